import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The NATS transport refuses")
struct RefusalTests {
    @Test(
        "servers with a secret, without repeating it",
        arguments: ["nats://ann:hunter2@127.0.0.1", "tls://hunter2@nats.example", "nats://127.0.0.1,tls://a:hunter2@b"])
    func secret(_ servers: String) {
        let error = #expect(throws: StorageError.self) { try OpenTransport(servers) }
        #expect(error?.code == .invalidOptions)
        #expect(error.map { !"\($0)".contains("hunter2") } ?? false, "\(String(describing: error))")
    }

    @Test(
        "addresses that are not servers, and unencrypted connections over a network",
        arguments: [
            "", "nats.example", "http://127.0.0.1", "nats://nats.example:4222", "nats://127.0.0.1:0",
            "nats://127.0.0.1:x",
            "nats://[::1", "nats://a b", "tls://nats.example,nats://other.example", "tls://",
        ])
    func servers(_ servers: String) throws {
        let error = #expect(throws: StorageError.self) { try OpenTransport(servers) }
        #expect(error?.code == .invalidOptions)
        _ = try OpenTransport("tls://nats.example:4222,nats://[::1]:4222,nats://localhost")
    }

    @Test("options that make no sense")
    func options() {
        for options: [String: ComponentOption.Value] in [
            ["bucket": .string("")], ["bucket": .string("a.b")], ["bucket": .string(">")], ["replicas": .integer(0)],
            ["timeout": .number(0)], ["largestRecord": .integer(1000)], ["passwordFile": .string("relative")],
            ["user": .string("ann")], ["passwordFile": .string("/a")], ["certificateFile": .string("/a")],
            ["credentialsFile": .string("/a"), "user": .string("ann"), "passwordFile": .string("/b")],
        ] {
            let error = #expect(throws: StorageError.self, "\(options)") {
                try OpenTransport("nats://127.0.0.1", options)
            }
            #expect(error?.code == .invalidOptions, "\(options)")
        }
    }

    @Test("a server whose largest message is too small")
    func smallMessages() throws {
        let server = try NATSServer(.debian, "max_payload: 300000")
        let device = try OpenTransport(server.url)
        let error = #expect(throws: StorageError.self) { try device.fetch() }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("300000") ?? false, "\(String(describing: error))")
        let small = try OpenTransport(server.url, ["largestRecord": .integer(262_144)])
        try small.publish(0..<1)
    }

    @Test("a server without JetStream, and a bucket that is missing and must not be created")
    func missing() throws {
        let device = try OpenTransport(NATSServer.shared.get().url, ["create": .boolean(false)])
        let error = #expect(throws: StorageError.self) { try device.publish(0..<1) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.hint.contains("create") ?? false, "\(String(describing: error))")
        let server = try NATSServer(.debian, "jetstream: disabled")
        let plain = try OpenTransport(server.url)
        let other = #expect(throws: StorageError.self) { try plain.publish(0..<1) }
        #expect(other?.code == .storeUnavailable)
        #expect(other?.hint.contains("JetStream") ?? false, "\(String(describing: other))")
    }

    @Test(
        "a bucket that would lose records",
        arguments: [
            (#""max_age": 60000000000"#, "60 seconds"), (#""storage": "memory""#, "memory"),
            (#""max_bytes": 1000, "discard": "old""#, "discards"), (#""max_msg_size": 1000"#, "1000 bytes"),
            (#""retention": "interest""#, "interest"),
        ])
    func lossy(_ setting: String, _ expected: String) throws {
        let server = try NATSServer.shared.get()
        let bucket = OpenTransport.newBucket()
        let client = try RawClient(port: server.port)
        let answer = try client.ask(
            "$JS.API.STREAM.CREATE.KV_\(bucket)",
            #"{"name": "KV_\#(bucket)", "subjects": ["$KV.\#(bucket).>"], \#(setting)}"#)
        #expect(answer.contains("did_create"), "\(answer)")
        let device = try OpenTransport(server.url, bucket: bucket)
        let error = #expect(throws: StorageError.self) { try device.publish(0..<1) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains(expected) ?? false, "\(String(describing: error))")
    }

    @Test(
        "a bucket of a current server that would lose records, or keep them elsewhere",
        arguments: [
            (#""subject_transform": {"src": ">", "dest": "other.>"}"#, "other subjects"),
            (#""persist_mode": "async", "num_replicas": 1"#, "'async'"), (#""no_ack": true"#, "no_ack"),
            (#""discard": "new", "discard_new_per_subject": true, "max_msgs_per_subject": 1"#, "older one"),
        ])
    func newSettings(_ setting: String, _ expected: String) throws {
        let server = try NATSServer(.current)
        let bucket = OpenTransport.newBucket()
        let answer = try RawClient(port: server.port).ask(
            "$JS.API.STREAM.CREATE.KV_\(bucket)",
            #"{"name": "KV_\#(bucket)", "subjects": ["$KV.\#(bucket).>"], "storage": "file", \#(setting)}"#)
        #expect(answer.contains("did_create"), "\(answer)")
        let device = try OpenTransport(server.url, bucket: bucket)
        let error = #expect(throws: StorageError.self) { try device.publish(0..<1) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains(expected) ?? false, "\(String(describing: error))")
    }

    @Test("a record beyond the stream's limit, and publishes those before it only")
    func full() throws {
        let server = try NATSServer.shared.get()
        let bucket = OpenTransport.newBucket()
        let client = try RawClient(port: server.port)
        _ = try client.ask(
            "$JS.API.STREAM.CREATE.KV_\(bucket)",
            #"{"name": "KV_\#(bucket)", "subjects": ["$KV.\#(bucket).>"], "max_bytes": 10000, "discard": "new"}"#)
        let device = try OpenTransport(server.url, bucket: bucket)
        var records = OpenTransport.records(0..<10)
        records[4].content = Data(count: 20_000)
        let error = #expect(throws: StorageError.self) { try device.transport.publish(records) }
        #expect(error?.code == .noSpace, "\(String(describing: error))")
        #expect(try device.fetch().records == Array(records[..<4]))
    }
}

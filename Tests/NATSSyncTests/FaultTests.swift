import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Faults of a NATS server and of the connection to it")
struct FaultTests {
    @Test("a server that is killed while records are published loses none that was acknowledged, and mixes up none")
    func killed() throws {
        let server = try NATSServer()
        let device = try OpenTransport(server.url, ["timeout": .number(2)])
        try device.publish(0..<10)
        let start = try device.fetch().position
        let restarts = Background {
            for _ in 0..<3 {
                usleep(100_000)
                try server.kill()
                try server.start()
            }
        }
        // One record is replaced again and again, and a second one follows it: the second must never have a later
        // round.
        var (round, failures, acknowledged) = (0, 0, 0)
        let end = ContinuousClock.now.advanced(by: .seconds(1.5))
        while ContinuousClock.now < end {
            round += 1
            do throws(StorageError) {
                try device.transport.publish(
                    (0..<40).map { SyncRecord(writer: "w", name: "n\($0)", content: Data("\(round)".utf8)) })
                acknowledged = round
            } catch {
                #expect([.storeUnavailable, .durabilityUnknown].contains(error.code), "\(error)")
                failures += 1
                usleep(20_000)
            }
        }
        try restarts.wait()
        #expect(failures > 0 && acknowledged > 0)
        let found = try device.fetch(since: start).records.filter { $0.writer == "w" }
        let rounds = found.compactMap { Int(String(decoding: $0.content, as: UTF8.self)) }
        #expect(found.count == 40)
        #expect(rounds.allSatisfy { $0 >= acknowledged }, "\(acknowledged): \(rounds)")
        #expect(rounds == rounds.sorted(), "\(rounds)")
        #expect(try device.fetch().records.count == 50)
    }

    @Test("a cluster continues while any one of its servers is down", arguments: NATSServer.Version.installed)
    func cluster(_ version: NATSServer.Version) throws {
        let ports = try (0..<3).map { _ in try FreePort.find() }
        let routes = ports.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        let servers = try ports.enumerated().map { index, port in
            try NATSServer(
                version,
                [
                    "server_name: n\(index)",
                    "cluster { name: devices, listen: \"127.0.0.1:\(port)\", routes: [\(routes)] }",
                ])
        }
        let urls = servers.map(\.url).joined(separator: ",")
        let device = try OpenTransport(urls, ["replicas": .integer(3), "timeout": .number(5)])
        let other = try OpenTransport(urls, bucket: device.bucket, ["timeout": .number(5)])
        // Servers that have just started, or lost their leader, must elect one first: on a busy machine that takes
        // minutes.
        func whenElected<Result>(_ body: () throws -> Result) throws -> Result {
            let end = ContinuousClock.now.advanced(by: .seconds(300))
            while true {
                do { return try body() } catch let error as StorageError {
                    guard [.storeUnavailable, .durabilityUnknown, .timedOut].contains(error.code),
                        ContinuousClock.now < end
                    else { throw error }
                }
                usleep(100_000)
            }
        }
        try whenElected { try device.publish(0..<10) }
        var (count, position) = (10, try whenElected { try other.fetch().position })
        for server in servers {
            try server.kill()
            try whenElected { try device.publish(count..<count + 10) }
            let (records, next) = try whenElected { try other.fetch(since: position) }
            #expect(records.map(\.name) == (count..<count + 10).map { "n\($0)" })
            (count, position) = (count + 10, next)
            try server.start()
        }
        #expect(try whenElected { try device.fetch() }.records.count == count)
    }

    @Test("a server that hangs leaves time for those behind it")
    func hanging() throws {
        let (hanging, server) = (try NATSServer(), try NATSServer())
        try hanging.pause()
        let device = try OpenTransport("\(hanging.url),\(server.url)", ["timeout": .number(3)])
        try device.publish(0..<3)
        #expect(try device.fetch().records.count == 3)
        try hanging.resume()
    }

    @Test("positions in a wiped server are lost, and the transport sets it up again")
    func wiped() throws {
        let server = try NATSServer()
        let device = try OpenTransport(server.url)
        try device.publish(0..<10)
        let position = try device.fetch().position
        try server.kill()
        try server.wipe()
        try server.start()
        #expect(throws: StorageError.positionLost) { try device.fetch(since: position) }
        try device.publish(0..<12)
        #expect(throws: StorageError.positionLost) { try device.fetch(since: position) }
        #expect(try device.fetch().records.count == 12)
    }

    /// Puts a server back to its state after 10 of 20 records, and returns the positions behind the 10 and the 20.
    private func putBack(_ server: NATSServer) throws -> (device: OpenTransport, early: Data, late: Data) {
        let device = try OpenTransport(server.url)
        try device.publish(0..<10)
        let early = try device.fetch().position
        try server.kill()
        try FileManager.default.copyItem(atPath: server.file("store"), toPath: server.file("saved"))
        try server.start()
        try device.publish(10..<20)
        let late = try device.fetch().position
        try server.kill()
        try server.wipe()
        try FileManager.default.moveItem(atPath: server.file("saved"), toPath: server.file("store"))
        try server.start()
        return (device, early, late)
    }

    @Test("a server that lost its last messages makes the positions of all devices invalid")
    func lostEnd() throws {
        let server = try NATSServer()
        let (device, early, late) = try putBack(server)
        #expect(throws: StorageError.positionLost) { try device.fetch(since: late) }
        try device.publish(10..<30)
        for position in [early, late] {
            #expect(throws: StorageError.positionLost) { try device.fetch(since: position) }
        }
        #expect(try device.fetch().records.count == 30)
    }

    @Test("a server with other messages in place of its last ones makes the positions of all devices invalid")
    func replacedEnd() throws {
        let server = try NATSServer()
        let (device, early, late) = try putBack(server)
        // New transports do not know how far the stream had come.
        let other = try OpenTransport(server.url, bucket: device.bucket)
        try other.publish(20..<60)
        #expect(try other.fetch(since: early).records.count == 40)
        let later = try OpenTransport(server.url, bucket: device.bucket)
        #expect(throws: StorageError.positionLost) { try later.fetch(since: late) }
        #expect(throws: StorageError.positionLost) { try other.fetch(since: early) }
        #expect(try device.fetch().records.count == 50)
    }

    @Test("calls fail without a server, and work once it has started")
    func absent() throws {
        let server = try NATSServer()
        try server.kill()
        let device = try OpenTransport(server.url)
        let notices = Recorder<SyncNotice>()
        let subscription = try device.transport.subscribe { notices.add($0) }
        defer { device.transport.unsubscribe(subscription) }
        #expect(notices.take { $0 == .unreachable } == [.unreachable])
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) { try device.publish(0..<1) }
            #expect(error?.code == .storeUnavailable)
            let message = error?.message ?? ""
            #expect(message.contains("127.0.0.1:\(server.port)") && !message.contains(".c:"), "\(message)")
        }
        try server.start()
        #expect(notices.take { $0 == .reachable } == [.reachable])
        try device.publish(0..<1)
        #expect(notices.take { $0 == .changed } != nil)
        try server.kill()
        #expect(notices.take { $0 == .unreachable } != nil)
    }

    @Test("a call that waits for a server ends soon after it is cancelled, and the next one works")
    func cancelled() throws {
        let server = try NATSServer()
        let device = try OpenTransport(server.url, ["timeout": .number(60)])
        try device.publish(0..<1)
        try server.pause()
        // This is also more than a connection's buffers hold.
        let large = (0..<30).map { SyncRecord(writer: "w", name: "n\($0)", content: Data(count: 900_000)) }
        let start = ContinuousClock.now
        let cancelling = Background {
            for _ in 0..<20 {
                usleep(50_000)
                device.transport.cancel()
            }
        }
        #expect(throws: StorageError.cancelled) { try device.transport.publish(large) }
        #expect(throws: StorageError.cancelled) { try device.fetch() }
        #expect(ContinuousClock.now - start < .seconds(5))
        try cancelling.wait()
        try server.resume()
        try device.publish(0..<2)
        #expect(try device.fetch().records.filter { $0.writer == "laptop" }.count == 2)
    }

    @Test("a call does not wait longer than the time limit for a server that is silent")
    func silent() throws {
        let server = try NATSServer()
        let device = try OpenTransport(server.url, ["timeout": .number(0.3)])
        try device.publish(0..<1)
        try server.pause()
        #expect(throws: StorageError.durabilityUnknown) { try device.publish(0..<2) }
        #expect(throws: StorageError.storeUnavailable) { try device.fetch() }
        try server.resume()
        try device.publish(0..<2, "again ")
        // The first record arrives late, and must not replace the one after it.
        usleep(200_000)
        #expect(try device.fetch().records == OpenTransport.records(0..<2, "again "))
    }

    @Test("two processes publish and fetch at the same time")
    func processes() throws {
        let server = try NATSServer.shared.get()
        let options = #"{"servers": "\#(server.url)", "bucket": "\#(OpenTransport.newBucket())"}"#
        let kits = (0..<2).map { _ in
            Background {
                let end = try ChildProcess(
                    BuiltProducts.host,
                    arguments: [
                        "plugins", "test", OpenTransport.plugin, "--only", "sync.order.newest", "--only",
                        "sync.device.both", "--only", "sync.threads.writers", "--options", options,
                    ],
                    environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
                ).run(deadline: .seconds(100))
                guard end.outcome == .exited(code: 0) else {
                    throw TestFailure("\(String(decoding: end.output, as: UTF8.self))\(end.errorText)")
                }
            }
        }
        for kit in kits { try kit.wait() }
    }
}

import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Connections to PostgreSQL", .serialized)
struct ConnectionTests {
    @Test("that are refused fail at once, and the error names the host and the reason")
    func down() throws {
        let port = try FreePort.find()
        let store = try OpenStore("postgresql://ann@127.0.0.1:\(port)/x", ["timeout": .number(5)])
        let start = ContinuousClock.now
        for call in [{ _ = try store.get("name") }, { try store.set("name", "value") }] {
            let error = #expect(throws: StorageError.self) { try call() }
            #expect(error?.code == .storeUnavailable)
            #expect(error?.message.contains("127.0.0.1:\(port)") ?? false, "\(String(describing: error))")
            #expect(error?.message.contains("Connection refused") ?? false, "\(String(describing: error))")
        }
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test("to a server that does not answer end at the deadline")
    func silent() throws {
        let silent = try Listening()
        let store = try OpenStore("postgresql://ann@127.0.0.1:\(silent.port)/x", ["timeout": .number(0.5)])
        let start = ContinuousClock.now
        let error = #expect(throws: StorageError.self) { try store.set("name", "value") }
        #expect(error?.code == .storeUnavailable)
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test("go to the first of several hosts that accepts writes")
    func severalHosts() throws {
        let server = try PostgreSQLServer.shared.get()
        let hosts = "127.0.0.1:\(try FreePort.find()),127.0.0.1:\(server.port)"
        let store = try OpenStore("postgresql://localdata@\(hosts)/postgres?target_session_attrs=read-write")
        try store.set("name", "value")
        #expect(try store.text("name") == "value")
    }

    @Test("are enough for calls that are made while a value is read or written in pieces, however many threads do so")
    func nested() throws {
        let server = try PostgreSQLServer.shared.get()
        let store = try OpenStore(
            server.uri("localdata", "?application_name=nested"), ["timeout": .number(5), "poolSize": .integer(4)])
        try store.write("large", seed: 1, pieces: 3)
        try store.set("key", "of a ring")
        let (begun, ended) = (Recorder<Int>(), Recorder<String>())
        onThreads(4) { thread in
            _ = try? store.store.read(store.store.resolve(StorageAddress(store.place, name: "large"))) { _ in
                begun.add(thread)
                // All connections are in use now.
                let end = ContinuousClock.now + .seconds(60)
                while begun.all.count < 4, ContinuousClock.now < end { usleep(1000) }
                do {
                    ended.add(try store.text("key") ?? "absent")
                    try store.write("copy \(thread)", seed: 2, pieces: 3)
                } catch { ended.add("\(error)") }
                return false
            }
        }
        #expect(ended.all == Array(repeating: "of a ring", count: 4))
        #expect(try store.names(prefix: "copy ").count == 4)
        let left = try server.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'nested'")
        #expect(left.compactMap { Int($0) }.allSatisfy { $0 <= 4 } && left.count == 1, "\(left) connections stay open")
    }

    @Test("that an administrator ends are reopened without an error")
    func terminated() throws {
        let server = try PostgreSQLServer.shared.get()
        let store = try OpenStore(server.uri("localdata", "?application_name=ended"))
        for index in 0..<5 {
            try store.set("name", "\(index)")
            try server.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'")
            #expect(try store.text("name") == "\(index)")
        }
    }

    @Test("are reopened after the server was restarted or killed, and nothing acknowledged is lost")
    func restarted() throws {
        let server = try PostgreSQLServer()
        let store = try OpenStore(server.uri(), ["timeout": .number(2)])
        for round in 0..<3 {
            let acknowledged = Recorder<String>()
            let stopped = MutexBox(false)
            onThreads(4) { thread in
                if thread == 0 {
                    // The server ends during the writes, however late these begin.
                    let end = ContinuousClock.now + .seconds(60)
                    while acknowledged.all.count < 20, ContinuousClock.now < end { usleep(1000) }
                    try? round == 0 ? server.stop() : server.kill()
                    stopped.withLock { $0 = true }
                    return
                }
                for index in 0... {
                    if stopped.withLock({ $0 }) { break }
                    let name = "\(round) \(thread) \(index)"
                    if (try? store.set(name, name)) != nil { acknowledged.add(name) }
                }
            }
            #expect(throws: StorageError.storeUnavailable) { try store.get("any") }
            try server.start()
            #expect(!acknowledged.all.isEmpty)
            for name in acknowledged.all { #expect(try store.text(name) == name) }
        }
    }
}

@Suite("TLS to PostgreSQL")
struct TLSTests {
    private let server: PostgreSQLServer

    init() throws { server = try PostgreSQLServer.shared.get() }

    private func store(_ host: String, _ authority: String) throws -> OpenStore {
        try OpenStore(
            server.uri(host: host, "?sslmode=verify-full&sslrootcert=\(server.certificate(authority))"))
    }

    @Test("verifies the server's certificate and its name")
    func verified() throws {
        let store = try store("localhost", "authority")
        try store.set("name", "value")
        #expect(try store.text("name") == "value")
    }

    @Test(
        "refuses another authority, and another name",
        arguments: [("localhost", "other", "certificate verify failed"), ("127.0.0.1", "authority", "does not match")])
    func refused(_ host: String, _ authority: String, _ reason: String) throws {
        let store = try store(host, authority)
        let error = #expect(throws: StorageError.self) { try store.get("name") }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains(reason) ?? false, "\(String(describing: error))")
    }
}

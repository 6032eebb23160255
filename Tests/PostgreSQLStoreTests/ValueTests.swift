import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("Values in PostgreSQL")
struct ValueTests {
    private let server: PostgreSQLServer
    private let store: OpenStore

    init() throws {
        server = try PostgreSQLServer.shared.get()
        store = try OpenStore(server.uri())
    }

    @Test("have names that sort by their bytes, and are never part of a statement")
    func names() throws {
        let names = [
            "'; DROP TABLE value; --", "$1", "%s", "a", "a'", "a\"b", "a\\", "a\u{1}", "B", "e\u{301}", "\u{e9}",
            "\u{ffff}", "\u{10ffff}", "\\x00", "😀", "", " ", "NULL",
        ].filter { !$0.isEmpty }
        for name in names { try store.set(name, name) }
        for name in names { #expect(try store.text(name) == name) }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try store.names().map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
        #expect(try store.names(prefix: "a") == ["a", "a\u{1}", "a\"b", "a'", "a\\"])
        #expect(try store.names(prefix: "a", after: "a\"b") == ["a'", "a\\"])
    }

    // The peak is that of a process of its own: what other tests need meanwhile does not count.
    @Test("of 20 MiB are written and read in pieces, with little memory")
    func large() async throws {
        let (uri, schema) = (server.uri(), store.schema)
        await #expect(processExitsWith: .success) { [uri = uri as String, schema = schema as String] in
            let store = try OpenStore(uri, schema: schema)
            try store.set("small", "small")
            Self.forgetPeak()
            let before = try Self.peak()
            try store.write("large", seed: 7, pieces: 320)
            let size = try store.digest("large").size
            let grown = try Self.peak() - before
            #expect(size == 20 << 20)
            #expect(grown < Self.exchange, "\(grown) KiB")
        }
        let digest = try store.digest("large")
        let whole = try #require(try store.get("large"))
        #expect(whole.count == 20 << 20)
        #expect(whole.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } == digest.hash)
        try store.set("large", "small")
        #expect(try server.run("SELECT count(*) FROM \(store.schema).piece") == ["0"])
    }

    /// Twice the data of one exchange, in libpq's buffers and in the store's, in KiB.
    private static let exchange = 16 << 10

    /// Lets the peak begin with what this process needs now.
    private static func forgetPeak() {
        let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
        try? file?.write(contentsOf: Data("5".utf8))
        try? file?.close()
    }

    /// This process's peak of memory, in KiB.
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return try #require(line?.split(separator: " ").dropLast().last.flatMap { Int($0) })
    }

    @Test("that were damaged in the database are reported, and not read")
    func damage() throws {
        try store.set("sound", "sound")
        try store.set("small", "small")
        for name in ["large", "endless", "negative"] {
            try store.set(name, Data(SeededGenerator.bytes(3 << 20, seed: 1)))
        }
        #expect(try store.findings() == [])
        try server.run("UPDATE \(store.schema).value SET content = 'smoll' WHERE name = 'small'")
        try server.run(
            """
            UPDATE \(store.schema).piece SET content = content || 'x' WHERE number = 3
            AND revision = (SELECT revision FROM \(store.schema).value WHERE name = 'large')
            """)
        try server.run("UPDATE \(store.schema).value SET size = \(1 << 60) WHERE name = 'endless'")
        try server.run("UPDATE \(store.schema).value SET size = -1 WHERE name = 'negative'")
        #expect(throws: StorageError.valueTooLarge) { try store.get("endless") }
        #expect(throws: StorageError.corrupt) { try store.digest("endless") }
        #expect(throws: StorageError.corrupt) { try store.get("negative") }
        #expect(throws: StorageError.corrupt) { try store.get("small") }
        #expect(throws: StorageError.corrupt) { try store.get("large") }
        #expect(throws: StorageError.corrupt) { try store.digest("large") }
        #expect(try store.text("sound") == "sound")
        let findings = try store.findings()
        #expect(findings.count == 4)
        #expect(findings.contains { $0.contains("tests/small") } && findings.contains { $0.contains("tests/large") })
    }

    @Test("of eight stores that create the tables at once are all kept")
    func creation() async throws {
        let (uri, schema) = (server.uri(), OpenStore.newSchema())
        let failures = Recorder<String>()
        onThreads(8) { thread in
            do {
                try OpenStore(uri, schema: schema).set("name \(thread)", "\(thread)")
            } catch { failures.add("\(error)") }
        }
        #expect(failures.all == [])
        #expect(try OpenStore(uri, schema: schema).names().count == 8)
    }

    @Test("are written by many threads over few connections")
    func fewConnections() throws {
        let store = try OpenStore(server.uri("localdata", "?application_name=few"), ["poolSize": .integer(2)])
        let failures = Recorder<String>()
        onThreads(12) { thread in
            do {
                for index in 0..<20 { try store.set("\(thread) \(index)", "\(index)") }
            } catch { failures.add("\(error)") }
        }
        #expect(failures.all == [])
        #expect(try store.names().count == 240)
        let open = try server.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'few'")
        #expect((1...2).contains(Int(open[0]) ?? 0))
    }
}

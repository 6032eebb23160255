import Foundation
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

/// A store behind a proxy loses a request or its answer, while another store of the same schema, which has its own
/// connection, goes on.
@Suite("A change whose answer was lost just after the commit", .serialized)
struct LostAnswerTests {
    private let proxy: CuttingProxy
    private let store: OpenStore
    private let other: OpenStore
    /// The statement, as a request has it.
    private static let commit = "\u{0}COMMIT\u{0}"

    init() throws { try self.init("") }

    private init(_ pooler: String) throws {
        let server = try PostgreSQLServer.poolers[pooler]?.get() ?? PostgreSQLServer.shared.get()
        proxy = try CuttingProxy(before: server.port)
        other = try OpenStore(PostgreSQLServer.shared.get().uri())
        try other.set("first", "value")
        let uri = "postgresql://localdata@127.0.0.1:\(proxy.port)/postgres?sslmode=disable"
        store = try OpenStore(uri, schema: other.schema, ["timeout": .number(20)])
        #expect(try store.text("first") == "value")
    }

    /// Makes a change, and loses it or its answer while `meanwhile` runs.
    private func losing<Result>(
        _ loss: CuttingProxy.Trap.Loss = .answer, of text: String, _ change: () throws -> Result,
        meanwhile: @escaping @Sendable (OpenStore) throws -> Void
    ) throws -> Result {
        let failures = Recorder<String>()
        proxy.lose(loss, of: text) { [other] in
            do { try meanwhile(other) } catch { failures.add("\(error)") }
        }
        defer {
            #expect(!proxy.isArmed, "the request had not the bytes '\(text)'")
            #expect(failures.all == [])
        }
        return try change()
    }

    @Test("is not repeated over what another stored since", arguments: ["", "session", "transaction"])
    func set(_ pooler: String) throws {
        let test = try Self(pooler)
        try test.losing(of: "W1") {
            try test.store.set("a", "W1")
        } meanwhile: { other in
            try #expect(other.text("a") == "W1")
            try other.set("a", "W2")
        }
        #expect(try test.other.text("a") == "W2")
    }

    @Test("does not bring back what another removed since", arguments: ["", "transaction"])
    func removedSince(_ pooler: String) throws {
        let test = try Self(pooler)
        try test.losing(of: "W1") {
            try test.store.set("a", "W1")
        } meanwhile: {
            try #expect($0.remove("a"))
        }
        #expect(try test.other.text("a") == nil)
    }

    @Test("created a value, and does not create it again after another removed or replaced it")
    func creation() throws {
        let removed = try losing(of: "W1") {
            try store.set("a", "W1", if: .absent)
        } meanwhile: {
            try #expect($0.remove("a"))
        }
        #expect(removed != nil)
        #expect(try other.text("a") == nil)
        let replaced = try losing(of: "W2") {
            try store.set("b", "W2", if: .absent)
        } meanwhile: {
            try $0.set("b", "B2")
        }
        #expect(replaced != nil)
        #expect(try other.text("b") == "B2")
    }

    @Test("replaced a revision, and counts as done although another has replaced it since")
    func replacement() throws {
        try other.set("a", "old")
        let old = try #require(try other.revisioned("a")).revision
        let seen = Recorder<UInt64?>()
        let new = try losing(of: "W1") {
            try store.set("a", "W1", if: .revision(old))
        } meanwhile: {
            seen.add(try $0.revisioned("a")?.revision)
            try $0.set("a", "W2")
        }
        #expect(new != nil && seen.all == [new])
        #expect(try other.text("a") == "W2")
    }

    @Test("removed a value, and does not remove what another stored since", arguments: ["", "transaction"])
    func removal(_ pooler: String) throws {
        let test = try Self(pooler)
        try test.other.set("only here", "old")
        let removed = try test.losing(of: "only here") {
            try test.store.remove("only here")
        } meanwhile: {
            try #expect($0.text("only here") == nil)
            try $0.set("only here", "W2")
        }
        #expect(removed)
        #expect(try test.other.text("only here") == "W2")
        let revision = try #require(try test.other.revisioned("only here")).revision
        let again = try test.losing(of: "only here") {
            try test.store.remove("only here", ifRevision: revision)
        } meanwhile: {
            try $0.set("only here", "W3")
        }
        #expect(again)
        #expect(try test.other.text("only here") == "W3")
    }

    @Test("never reached the server: a revision is removed by one of two who try, and a set is repeated")
    func lostRequest() throws {
        try other.set("a job", "old")
        let revision = try #require(try other.revisioned("a job")).revision
        let removed = try losing(.request, of: "a job") {
            try store.remove("a job", ifRevision: revision)
        } meanwhile: {
            try #expect($0.remove("a job", ifRevision: revision))
        }
        #expect(!removed)
        try losing(.request, of: "W1") {
            try store.set("a", "W1")
        } meanwhile: {
            try $0.set("a", "W2")
        }
        try #expect(other.text("a") == "W1")
    }

    @Test("was a batch: what it set and removed stays as others changed it since", arguments: ["", "transaction"])
    func batch(_ pooler: String) throws {
        let test = try Self(pooler)
        try test.other.set("b", "B1")
        try test.losing(of: "W1") {
            try test.store.apply([("a", "W1"), ("b", nil)])
        } meanwhile: { other in
            try #expect(other.values() == ["a": "W1", "first": "value"])
            try other.set("b", "B2")
            try other.set("a", "W2")
        }
        #expect(try test.other.values() == ["a": "W2", "b": "B2", "first": "value"])
        try test.losing(of: "first") {
            try test.store.apply([("b", nil), ("first", nil)])
        } meanwhile: {
            try $0.set("b", "B3")
        }
        #expect(try test.other.values() == ["a": "W2", "b": "B3"])
    }

    @Test("was a transaction: it counts as done, and others' later values stay")
    func transaction() throws {
        try losing(of: Self.commit) {
            try store.commit([("a", "W1"), ("b", "W1")])
        } meanwhile: { other in
            try #expect(other.text("b") == "W1")
            try #expect(other.remove("a"))
            try other.set("b", "B2")
        }
        #expect(try other.values() == ["b": "B2", "first": "value"])
    }

    @Test("had a large value, which is not stored again over a later one", arguments: [false, true])
    func large(_ isInPieces: Bool) throws {
        try losing(of: Self.commit) {
            if isInPieces { return try store.write("a", seed: 7, pieces: 48) }
            try store.set("a", Data(SeededGenerator.bytes(3 << 20, seed: 7)))
        } meanwhile: { other in
            try #expect(other.get("a")?.count == 3 << 20)
            try other.set("a", "W2")
        }
        #expect(try other.text("a") == "W2")
        #expect(try other.findings() == [])
    }

    @Test("and came too late counts as done if it was made, also after another has replaced it")
    func late() throws {
        let slow = try OpenStore(
            "postgresql://localdata@127.0.0.1:\(proxy.port)/postgres?sslmode=disable", schema: other.schema,
            ["timeout": .number(6)])
        try slow.set("a", "old")
        try losing(.silence, of: "W1") {
            try slow.set("a", "W1")
        } meanwhile: {
            try $0.set("a", "W2")
        }
        #expect(try other.text("a") == "W2")
    }

    @Test("is marked in one row of each connection, and old marks are removed")
    func marks() throws {
        let server = try PostgreSQLServer.shared.get()
        let schema = other.schema
        for index in 0..<5 { try other.set("a", "\(index)") }
        #expect(try server.run("SELECT count(*) FROM \(schema).mark") == ["1"])
        try server.run(
            """
            INSERT INTO \(schema).mark SELECT n, n, true, now() - interval '25 hours' FROM generate_series(1, 1000) n
            """)
        // One connection of 16 removes them.
        for _ in 0..<500 {
            let store = try OpenStore(server.uri(), schema: schema)
            try store.set("a", "value")
            store.store.close()
            let old = try server.run("SELECT count(*) FROM \(schema).mark WHERE made < now() - interval '1 day'")
            if old == ["0"] { return }
        }
        Issue.record("old marks stay")
    }
}

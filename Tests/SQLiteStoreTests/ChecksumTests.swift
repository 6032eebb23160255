import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@Suite("The checksums of the SQLite store") struct ChecksumTests {
    private let store: BuiltStore

    init() throws { store = try BuiltStore() }

    private func state(_ name: String) throws -> ValueState? {
        let handle = try store.handle(name)
        defer { store.store.release(handle) }
        return try store.store.verify(handle)
    }

    @Test("a database of an earlier version is readable, and gets them with its next values")
    func earlierDatabase() throws {
        let large = Data(seed: 1, count: 300_000)
        try store.set("small", Data("old".utf8))
        try store.set("large", large)
        try store.run(
            """
            DROP TABLE expiry; ALTER TABLE value DROP COLUMN expires; ALTER TABLE value DROP COLUMN checksum
            """)
        let later = try BuiltStore(in: store.folder)
        #expect(try later.get("small") == Data("old".utf8))
        #expect(try later.get("large") == large)
        #expect(try state("small") == .unrecorded)
        try later.set("new", Data("new".utf8))
        #expect(try later.get("small") == Data("old".utf8))
        #expect(try later.names() == ["large", "new", "small"])
        for (name, expected) in [("small", ValueState.unrecorded), ("large", .unrecorded), ("new", .intact)] {
            let handle = try later.handle(name)
            defer { later.store.release(handle) }
            #expect(try later.store.verify(handle) == expected, "\(name)")
        }
        #expect(try later.findings() == [])
    }

    @Test("a value from a program without checksums is not taken for a corrupt one")
    func earlierProgram() throws {
        try store.set("name", Data("value".utf8))
        #expect(try state("name") == .intact)
        try store.run("UPDATE value SET version = random(), content = CAST('other' AS BLOB) WHERE name = 'name'")
        #expect(try store.get("name") == Data("other".utf8))
        #expect(try state("name") == .unrecorded)
    }

    @Test("every way of reading notices a corrupt value, in a row or in pieces, and hands out the others")
    func everyWay() throws {
        for size in [100, 300_000] {
            try store.set("corrupt", Data(seed: 1, count: size))
            try store.set("other", Data("right".utf8))
            try store.run(
                size == 100
                    ? "UPDATE value SET content = zeroblob(100) WHERE name = 'corrupt'"
                    : "UPDATE piece SET content = zeroblob(length(content)) WHERE number = 1")
            #expect(throws: StorageError.corrupt) { try store.get("corrupt") }
            #expect(throws: StorageError.corrupt) { try state("corrupt") }
            let handle = try store.handle("corrupt")
            defer { store.store.release(handle) }
            var count = 0
            #expect(throws: StorageError.corrupt) {
                try store.store.read(handle) {
                    count += $0.count
                    return true
                }
            }
            #expect(count < size)
            let transaction = try store.store.begin()
            #expect(throws: StorageError.corrupt) { try store.store.get(handle, in: transaction) }
            store.store.rollback(transaction)
            var found: [String: Bool] = [:]
            try store.store.forEachValue(in: store.place) { value in
                found[String(decoding: value.name, as: UTF8.self)] = value.value != nil
                return true
            }
            #expect(found == ["corrupt": false, "other": true])
            try store.set("corrupt", Data(seed: 2, count: size))
            #expect(try store.get("corrupt") == Data(seed: 2, count: size))
        }
    }

    @Test("values that are stored in bulk have them, too")
    func many() throws {
        let changes = BulkChangeList(capacity: 100)
        let place = changes.add(store.place)
        for index in 0..<100 {
            changes.add(
                place, changes.keep("name-\(index)".utf8), changes.keep("value-\(index)".utf8), attributes: nil,
                expected: 0)
        }
        #expect(try store.store.apply(changes) == [])
        for index in 0..<100 {
            #expect(try store.get("name-\(index)") == Data("value-\(index)".utf8))
            #expect(try state("name-\(index)") == .intact)
        }
    }
}

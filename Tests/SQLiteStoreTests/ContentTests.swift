import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The content of the SQLite store")
struct ContentTests {
    @Test(
        "a value of any size comes back, also over one of another size, and leaves no pieces",
        arguments: [0, 1, 4091, 4092, 4093, 262_143, 262_144, 262_145, 524_288, 1_000_001])
    func sizes(_ size: Int) throws {
        let store = try BuiltStore()
        for other in [0, 300_000, 100] {
            try store.set("name", Data(seed: 1, count: other))
            try store.set("name", Data(seed: 2, count: size))
            #expect(try store.get("name") == Data(seed: 2, count: size))
            #expect(try store.findings() == [])
        }
        #expect(try store.remove("name"))
        #expect(try store.get("name") == nil)
        #expect(try store.findings() == [])
    }

    @Test("a batch that sets a large value twice leaves only the pieces of the second value")
    func largeTwice() throws {
        let store = try BuiltStore()
        let handle = try store.handle("name")
        defer { store.store.release(handle) }
        try store.store.apply([
            StorageChange(key: handle, value: Data(seed: 1, count: 600_000)),
            StorageChange(key: handle, value: Data(seed: 2, count: 300_000)),
        ])
        #expect(try store.get("name") == Data(seed: 2, count: 300_000))
        #expect(try store.findings() == [])
    }

    @Test("a transaction reads a snapshot, and commits only if that is still current")
    func oneMoment() throws {
        let store = try BuiltStore()
        let keys = try ["first", "second", "third"].map { try store.handle($0) }
        defer { for key in keys { store.store.release(key) } }
        func set(_ index: Int, _ text: String) throws {
            try store.store.set(keys[index], to: Data(text.utf8), attributes: nil)
        }
        for (index, text) in ["1", "2"].enumerated() { try set(index, text) }
        let reading = try store.store.begin()
        #expect(try store.store.get(keys[0], in: reading) == Data("1".utf8))
        try set(1, "later")
        try set(2, "later")
        #expect(try store.store.get(keys[1], in: reading) == Data("2".utf8))
        #expect(try store.store.get(keys[2], in: reading) == nil)
        #expect(throws: StorageError.busy) { try store.store.commit(reading) }
        // As many as the maximum of connections, and abandoned in all ways.
        for _ in 0..<20 {
            let some = try (0..<20).map { _ in try store.store.begin() }
            for transaction in some { #expect(try store.store.get(keys[1], in: transaction) == Data("later".utf8)) }
            for (index, transaction) in some.enumerated() {
                if index.isMultiple(of: 2) {
                    store.store.rollback(transaction)
                } else {
                    try store.store.commit(transaction)
                }
            }
        }
        try set(0, "last")
        #expect(try store.get("first") == Data("last".utf8))
    }

    @Test("a batch that fails in its middle leaves nothing, not even the namespaces that it created")
    func failedBatch() throws {
        let store = try BuiltStore(["largestValue": .integer(1000)])
        try store.set("kept", Data("old".utf8))
        let new = StorageNamespace(domain: "userDefaults", scope: "new")
        // Another program's rule simulates the failure in the middle.
        try store.run(
            "CREATE TRIGGER stop BEFORE INSERT ON value WHEN new.name = 'stop' BEGIN SELECT RAISE(ABORT, 'no'); END")
        let changes = [
            StorageChange(key: try store.handle("kept"), value: Data("new".utf8)),
            StorageChange(key: try store.handle("first", in: new), value: Data("new".utf8)),
            StorageChange(key: try store.handle("stop"), value: Data("new".utf8)),
        ]
        #expect(throws: StorageError.self) { try store.store.apply(changes) }
        #expect(try store.get("kept") == Data("old".utf8))
        #expect(try store.get("first", in: new) == nil)
        // The number of the namespace that was rolled back now goes to another one.
        let other = StorageNamespace(domain: "userDefaults", scope: "other")
        try store.set("first", Data("other".utf8), in: other)
        #expect(try store.get("first", in: new) == nil)
        try store.set("first", Data("new".utf8), in: new)
        #expect(try store.get("first", in: other) == Data("other".utf8))
        #expect(try store.get("first", in: new) == Data("new".utf8))
        for change in changes { store.store.release(change.key) }
    }

    @Test("names are listed in byte order across pages, including the smallest and largest possible names")
    func names() throws {
        let store = try BuiltStore(["synchronous": .string("normal")])
        var names = (0..<1500).map { "n\($0)" }
        names += ["\u{1}", "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{ffff}", "\u{10000}", "\u{10ffff}"]
        names += names.suffix(8).flatMap { ["a" + $0, $0 + "a", "a" + $0 + "b"] }
        for name in names { try store.set(name, Data([1])) }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        func expect(_ found: [String], _ expected: [String]) {
            #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        }
        expect(try store.names(), sorted)
        for prefix in [
            "n", "n1", "a", "\u{1}", "\u{10ffff}", "a\u{10ffff}", "\u{7f}", "zz", "n1499", "n14990", "\u{800}",
        ] {
            expect(
                try store.names(prefix: prefix), sorted.filter { $0.utf8.starts(with: prefix.utf8) })
            for after in ["n1", "n5\u{0}", "\u{10ffff}", "", prefix] {
                expect(
                    try store.names(prefix: prefix, after: after, limit: 600),
                    Array(
                        sorted.filter {
                            $0.utf8.starts(with: prefix.utf8) && after.utf8.lexicographicallyPrecedes($0.utf8)
                        }.prefix(600)))
            }
        }
        #expect(try store.names(prefix: "\u{0}") == [])
        for limit in [1, 511, 512, 513, 1024, 1025] { #expect(try store.names(limit: limit).count == limit) }
    }

    @Test("a listing neither blocks writers nor makes the log grow while its caller works")
    func slowListing() throws {
        let store = try BuiltStore(["synchronous": .string("normal")])
        for index in 0..<600 { try store.set("name \(index)", Data([1])) }
        var isFirst = true
        var count = 0
        try store.store.forEachName(in: store.place) { name in
            if isFirst {
                isFirst = false
                let value = Data(seed: 1, count: 20_000)
                for _ in 0..<1500 { try? store.set("a", value) }
            }
            count += name.hasPrefix("name") ? 1 : 0
            return true
        }
        #expect(count == 600)
        let size = try FileManager.default.attributesOfItem(
            atPath: "\(store.folder.path)/\(BuiltStore.file)-wal")[.size]
        #expect(try #require(size as? Int) < 16 << 20)
    }

    @Test("a check reports damage with the name and without the value")
    func damage() throws {
        let store = try BuiltStore()
        try store.set("short", Data("a secret value".utf8))
        try store.set("large", Data(seed: 1, count: 600_000))
        #expect(try store.findings() == [])
        try store.run(
            """
            UPDATE value SET size = 3 WHERE name = 'short';
            DELETE FROM piece WHERE number = 1;
            INSERT INTO piece VALUES (77, 0, 'orphan'), (77, 1, 'orphan');
            INSERT INTO value VALUES (99, 'nowhere', 1, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, x'');
            """.replacing("'orphan'", with: "x'00'"))
        let findings = try store.findings()
        #expect(findings.count == 4, "\(findings)")
        for words in [
            "'short' has 14 bytes, not 3", "'large' has pieces", "pieces of an absent value", "'nowhere'",
        ] { #expect(findings.contains { $0.contains(words) }, "\(words)") }
        #expect(!findings.contains { $0.contains("secret") })
        #expect(throws: StorageError.corrupt) { try store.get("large") }
    }

    @Test("a check of a damaged file reports the damage, and does not fail")
    func damagedFile() throws {
        let folder = try TemporaryFolder()
        do {
            let store = try BuiltStore(in: folder)
            for index in 0..<300 { try store.set("name \(index)", Data(seed: index, count: 1000)) }
            store.store.close()
        }
        var content = try #require(folder.content(BuiltStore.file))
        for page in stride(from: 8 * 4096, to: content.count - 4096, by: 5 * 4096) {
            content.replaceSubrange(page..<page + 200, with: Data(repeating: 0xa5, count: 200))
        }
        try folder.write(content, to: BuiltStore.file)
        let findings = try BuiltStore(in: folder).findings()
        #expect(!findings.isEmpty)
        #expect(findings.allSatisfy { $0.contains(BuiltStore.file) })
    }
}

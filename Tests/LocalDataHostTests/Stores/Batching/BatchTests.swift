import Foundation
import LocalDataAPI
import Testing

@testable import HostGround
@testable import HostStores
@testable import LocalDataHost

@Suite("batches", .timeLimit(.minutes(2))) struct BatchTests {
    private static let stores = """
        stores: {
          first: { component: "file", options: { root: "${data}/first" } },
          second: { component: "file", options: { root: "${data}/second" } },
          vault: { component: "file", options: { root: "${data}/vault" }, sealing: { source: "keyFile" } },
          fleeting: { component: "memory" }
        }
        """
    private static let domains = "one: \"first\", two: \"second\", sealed: \"vault\", gone: \"fleeting\""
    private static let keys = ["one", "two", "sealed", "gone"].map { textKey("k", .custom(name: $0)) }

    private func router(_ home: SealedHome) throws -> StorageRouter {
        try home.router(domains: Self.domains, Self.stores)
    }

    private func values(_ router: StorageRouter, _ keys: [StorageKey<String>] = keys) async throws -> [String?] {
        var values: [String?] = []
        for key in keys { values.append(try await router.exists(key) ? router.get(key) : nil) }
        return values
    }

    @Test("all changes take effect, the last one of a key wins, and attributes are kept")
    func effect() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home)
        let secret = textKey("secret", .encryptedFileSystem(), security: .recommended)
        let all = Self.keys + [secret]
        try await router.batch { _ in }
        try await router.batch { changes in
            for key in all { try changes.set("first", for: key) }
            changes.remove(Self.keys[0])
            for key in all { try changes.set("x", for: key) }
            changes.remove(Self.keys[1])
            changes.remove(textKey("never", .custom(name: "one")))
            #expect(changes.count == 13)
        }
        #expect(try await values(router, all) == ["x", nil, "x", "x", "x"])
        let other = try self.router(home)
        #expect(try await values(other, [Self.keys[0], Self.keys[2], secret]) == ["x", "x", "x"])
        let known = try await other.attributes(of: .key(Self.keys[0]))
        #expect(known?.serializer == "json" && known?.owner == "tests" && known?.size == 3)
        #expect(!home.contains("\"x\"x"))
        #expect(home.files("state").keys.filter { $0.hasSuffix(".intent") } == [])
        #expect(home.files("data").keys.filter { $0.contains("localdata.batch") } == [])
    }

    @Test("nothing is done if the changes cannot all be made")
    func refused() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home)
        for key in Self.keys { try await router.set("old", for: key) }
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await router.batch { changes in
                try changes.set("new", for: Self.keys[0])
                throw Stop()
            }
        }
        let refusals: [(StorageKey<String>, StorageError.Code)] = [
            (textKey("k", .custom(name: "unmapped")), .invalidConfiguration),
            (textKey("", .custom(name: "one")), .invalidAddress),
            (textKey("k", .custom(name: "one"), availability: .phoneOnly), .phoneOnlyKeyAccessedOnWatch),
        ]
        let watch = try home.router(domains: Self.domains, "device: { role: \"watch\" }, \(Self.stores)")
        for (key, code) in refusals {
            let error = try await StorageError.of {
                try await watch.batch { changes in
                    for key in Self.keys { try changes.set("new", for: key) }
                    try changes.set("new", for: key)
                }
            }
            #expect(error.code == code, "\(error)")
        }
        // This store fails when the changes are staged.
        try Data().write(to: URL(filePath: "\(home.folder)/data/second/localdata.batch"))
        let error = try await StorageError.of {
            try await router.batch { changes in for key in Self.keys { try changes.set("new", for: key) } }
        }
        #expect(error.code == .fileError, "\(error)")
        #expect(try await values(router) == ["old", "old", "old", "old"])
        // The next batch removes the changes that had to stay.
        try FileManager.default.removeItem(atPath: "\(home.folder)/data/second/localdata.batch")
        try await router.batch { changes in try changes.set("y", for: textKey("other", .custom(name: "one"))) }
        #expect(home.files("state").keys.filter { $0.hasSuffix(".intent") } == [])
        #expect(home.files("data").keys.filter { $0.contains("localdata.batch/") } == [])
    }

    /// Makes a batch that is committed, and stops once the changes of the first store are in place.
    private func interrupted(_ home: SealedHome, _ router: StorageRouter) async throws {
        for key in Self.keys { try await router.set("old", for: key) }
        let snapshot = try await router.snapshot()
        var groups: [StagedGroup] = []
        for key in Self.keys {
            let resolved = try await router.resolve(key)
            let change = BatchChange(
                resolved, value: try await resolved.sealedValue(), data: Data("\"new\"".utf8))
            var group = StagedGroup(resolved.scope)
            try BatchSeals([change], keychain: nil).whileSealing { (keys) throws(StorageError) in
                group.add(try change.change(keys), at: resolved.address)
            }
            groups.append(group)
        }
        let batch = try #require(try StagedBatch.decided(snapshot, groups, []))
        try StagedPlace(batch.intent.id, in: groups[0].scope).publish(groups[0].changes.count)
        #expect(try await values(router) == ["new", "old", "old", "old"])
    }

    @Test("folders that a store keeps apart change together, also if the batch was interrupted")
    func folders() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let domains: [StorageDomain] = [.fileSystem(), .fileSystem(directory: .caches), .custom(name: "rows")]
        let keys = domains.map { textKey("k", $0) }
        let router = try home.databases()
        try await router.batch { changes in for key in keys { try changes.set("first", for: key) } }
        #expect(try await values(router, keys) == ["first", "first", "first"])
        #expect(home.home.files().keys.filter { $0.hasSuffix(".sqlite") }.count == 2)
        try await router.interruptBatch(of: keys, to: Data("\"second\"".utf8))
        #expect(try await values(router, keys) == ["first", "first", "first"])
        let completed = try await values(home.databases(), keys)
        #expect(completed == ["second", "second", "second"])
        try await router.batch { changes in for key in keys { changes.remove(key) } }
        #expect(try await values(router, keys) == [nil, nil, nil])
    }

    @Test("changes stay apart even if a folder is the store's own, or has almost the same name")
    func ownFolder() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router(
            domains: "rows: \"rows\", fileSystem: \"rows\"",
            """
            stores: { rows: { component: "sqlite", options: { path: "${data}/values.sqlite" } } }
            """)
        func key(_ name: String, in folder: String) -> StorageKey<String> {
            let folder = URL(filePath: "\(home.folder)/\(folder)", directoryHint: .isDirectory)
            return textKey(name, .fileSystem(directory: .custom(folder)))
        }
        let keys = [
            textKey("one", .custom(name: "rows")), key("two", in: "data"), key("three", in: "caf\u{e9}"),
            key("four", in: "cafe\u{301}"),
        ]
        try await router.batch { changes in for key in keys { try changes.set(key.name, for: key) } }
        #expect(try await values(router, keys) == ["one", "two", "three", "four"])
        for folder in ["data", "caf\u{e9}", "cafe\u{301}"] {
            #expect(FileManager.default.fileExists(atPath: "\(home.folder)/\(folder)/values.sqlite"), "\(folder)")
        }
    }

    @Test("the next process completes a decided batch, and leaves values that others have changed since")
    func completion() async throws {
        for isChanged in [false, true] {
            let home = try SealedHome()
            defer { home.remove() }
            let router = try router(home)
            try await interrupted(home, router)
            let journal = try IntentJournal(folder: "\(home.folder)/data/localdata.batches/journal")
            #expect(try journal.pending(kind: BatchIntent.kind).map(\.state) == [.interrupted])
            if isChanged { try await router.set("later", for: Self.keys[1]) }
            // The memory store's part of the batch exists only in this process, which completes it with the next batch.
            try await router.batch { changes in try changes.set("y", for: textKey("other", .custom(name: "one"))) }
            #expect(try await values(router) == ["new", isChanged ? "later" : "new", "new", "new"])
            #expect(try journal.pending(kind: BatchIntent.kind).isEmpty)
            #expect(home.files("data").keys.filter { $0.contains("localdata.batch/") } == [])
        }
    }

    @Test("a batch that was interrupted is completed without the state folder")
    func withoutState() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await interrupted(home, try router(home))
        try FileManager.default.removeItem(atPath: "\(home.folder)/state")
        let other = try router(home)
        #expect(try await values(other, Array(Self.keys.dropLast())) == ["new", "new", "new"])
        #expect(home.files("data").keys.filter { $0.contains("localdata.batch/") } == [])
        #expect(await Diagnosis.run { other }.filter { $0.text.contains("batch") }.isEmpty)
    }

    @Test("what a batch has staged is reported if its record is lost, and stays until a person removes it")
    func abandoned() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home)
        await #expect(throws: StorageError.notFound) { try await router.stores.discardAbandonedBatches(in: "second") }
        try await interrupted(home, router)
        try FileManager.default.removeItem(atPath: "\(home.folder)/data/localdata.batches")
        let other = try self.router(home)
        func findings() async -> [String] {
            await Diagnosis.run { other }.map(\.text).filter { $0.contains("whose record is lost") }.sorted()
        }
        let found = await findings()
        #expect(found.count == 2, "\(found)")
        #expect(found.contains { $0.hasPrefix("store 'second' has 1 staged change of a batch of ") }, "\(found)")
        // Another batch neither takes it for its own nor removes it.
        try await other.batch { changes in for key in Self.keys { try changes.set("later", for: key) } }
        #expect(await findings() == found)
        for store in ["second", "vault"] { #expect(try await other.stores.discardAbandonedBatches(in: store) == 1) }
        #expect(await findings().isEmpty)
        #expect(home.files("data").keys.filter { $0.contains("localdata.batch/") } == [])
        #expect(try await values(other, Array(Self.keys.dropLast())) == ["later", "later", "later"])
    }

    @Test("another process completes it when it opens a router", arguments: [false, true])
    func completionElsewhere(registersFirst: Bool) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await interrupted(home, try router(home))
        let other = try router(home)
        if registersFirst {
            try await other.registerCatalog(SyncHomes.Keys(allKeys: Self.keys.map { .key($0) }))
        }
        #expect(try await values(other, Array(Self.keys.dropLast())) == ["new", "new", "new"])
    }

    @Test("keys that an incomplete batch may need are kept, and values that it replaces stay unchanged")
    func pendingKeepsKeys() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home)
        let secret = textKey("secret", .custom(name: "two"), security: .recommended)
        try await router.set("sealed", for: secret)
        try await interrupted(home, router)
        let old = try await router.keys.list()[0].id
        try await router.keys.rotate()
        await #expect(throws: StorageError.busy) { try await router.keys.retire(old) }
        await #expect(throws: StorageError.busy) { try await router.keys.reseal() }
        let other = try self.router(home)
        #expect(try await other.keys.reseal().resealed == 1)
        try await other.keys.retire(old)
        #expect(try await other.get(secret) == "sealed")
    }

    @Test("a batch that was not decided leaves nothing behind")
    func undecided() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home)
        for key in Self.keys { try await router.set("old", for: key) }
        let journal = try IntentJournal(folder: "\(home.folder)/data/localdata.batches/journal")
        do {
            let snapshot = try await router.snapshot()
            let open = try #require(snapshot.slot(ofStore: "first")).openIfNeeded()
            let address = StorageAddress(StorageNamespace(domain: "one"), name: "k")
            let handle = try open.store.resolve(address)
            defer { open.store.release(handle) }
            var group = StagedGroup(AtomicScope(address.place, in: open))
            group.add(StorageChange(key: handle, value: Data("new".utf8)), at: address)
            _ = try StagedBatch.staged(snapshot, [group])
        }
        #expect(home.files("data").keys.contains { $0.contains("localdata.batch/") })
        let other = try self.router(home)
        #expect(try await values(other, Array(Self.keys.dropLast())) == ["old", "old", "old"])
        #expect(home.files("data").keys.filter { $0.contains("localdata.batch/") } == [])
        #expect(try journal.pending(kind: BatchIntent.kind).isEmpty)
    }

    @Test("a batch whose store is no longer configured waits for it, and reports that")
    func unconfigured() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        try await interrupted(home, try router(home))
        let without = try home.router(domains: "one: \"first\"", Self.stores.replacing("${data}/second", with: "/x"))
        try await without.batch { changes in try changes.set("y", for: textKey("other", .custom(name: "one"))) }
        try await without.keys.rotate(of: .store("vault"))
        await #expect(throws: StorageError.busy) { try await without.keys.reseal(.store("vault")) }
        let journal = try IntentJournal(folder: "\(home.folder)/data/localdata.batches/journal")
        #expect(try journal.pending(kind: BatchIntent.kind).count == 1)
        let again = try router(home)
        #expect(try await values(again, Array(Self.keys.dropLast())) == ["new", "new", "new"])
    }

    @Test("a batch of any size holds up no other one while it is staged, and follows those that are decided meanwhile")
    func streamed() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try router(home)
        let keys = Array(Self.keys.prefix(2))
        try await router.batch { for key in keys { try $0.set("before", for: key) } }
        let snapshot = try await router.snapshot()
        var targets: [(resolved: ResolvedKey, value: SealedValue)] = []
        for key in keys {
            let resolved = try await router.resolve(KeyReference(key))
            targets.append((resolved, try await resolved.sealedValue()))
        }
        let most = Dictionary(uniqueKeysWithValues: targets.map { ($0.resolved.scope, 1) })
        let restored = Data("\"restored\"".utf8)
        try await onIOThread { [targets] () throws(StorageError) in
            func add(_ index: Int, to batch: StagedBatch) throws(StorageError) {
                let (resolved, value) = targets[index]
                try batch.add(restored, nil, to: value, at: resolved.address, in: resolved.open)
            }
            try StagedBatch.run(snapshot, most: most) { (batch) throws(StorageError) in
                try add(0, to: batch)
                // As another process does.
                let changes = targets.map { BatchChange($0.resolved, value: $0.value, data: Data("\"other\"".utf8)) }
                let groups = try BatchSeals(changes, keychain: nil).whileSealing { (lent) throws(StorageError) in
                    try StagedGroup.all(of: changes, lent)
                }
                try StagedBatch.run(snapshot, groups)
                try add(1, to: batch)
            } progress: { _ in
            }
        }
        #expect(try await values(router, keys) == ["restored", "restored"])
        #expect(!home.files("data").keys.contains { $0.contains("localdata.batch") && !$0.contains(".tmp") })
    }

    @Test("each of many tasks' batches over the same keys is applied as a whole")
    func concurrent() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let routers = [try router(home), try router(home), try router(home)]
        let keys = Array(Self.keys.dropLast())
        for round in 0..<10 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, router) in routers.enumerated() {
                    group.addTask {
                        try await router.batch { changes in
                            for key in keys { try changes.set("\(round) by \(number)", for: key) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let values = Set(try await values(routers[0], keys))
            #expect(values.count == 1 && values.first??.hasPrefix("\(round) by ") == true, "\(values)")
        }
    }
}

import Foundation
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostMigration
@testable import HostStores
@testable import HostTransfer
@testable import LocalDataHost

@Suite("Values on two devices") struct SyncedValuesTests {
    @Test("reach the other device, change there, and are removed", arguments: MigrationHome.domains)
    func exchange(domain: StorageDomain) async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("name", domain)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("of the first", for: key)
        try await first.sync()
        #expect(try await second.sync().changed.count == 1)
        #expect(try await second.get(key) == "of the first")
        #expect(try await second.attributes(of: AnyStorageKey(key))?.owner == "tests")
        try await second.set("of the second", for: key)
        try await second.sync()
        try await first.sync()
        #expect(try await first.get(key) == "of the second")
        try await first.remove(key)
        try await first.sync()
        try await second.sync()
        #expect(try await !second.exists(key))
        // Another process of the device continues with its state.
        let later = try await homes.router(1, [.key(key)])
        #expect(try await later.sync().changed.isEmpty)
        try await later.set("again", for: key)
        try await later.sync()
        #expect(try await first.sync().changed == ["\(try await first.resolve(KeyReference(key)).address)"])
        #expect(try await first.get(key) == "again")
        #expect(try await second.sync().changed.isEmpty)
    }

    @Test("that both change at once become the later one, and the other is kept", arguments: MigrationHome.domains)
    func conflict(domain: StorageDomain) async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("name", domain)
        let (first, second) = try await homes.pair([.key(key)])
        try await first.set("earlier", for: key)
        try await second.set("later", for: key)
        try await first.sync()
        try await second.sync()
        try await first.sync()
        #expect(try await first.get(key) == "later")
        #expect(try await second.get(key) == "later")
        let lost = try await first.syncGroup.conflicts().values + second.syncGroup.conflicts().values
        #expect(lost.allSatisfy { $0.address.hasSuffix("/name") } && !lost.isEmpty)
        let keeper = try await first.syncGroup.conflicts().values.isEmpty ? second : first
        try await keeper.syncGroup.restoreConflict(lost[0].id)
        try await keeper.sync()
        try await first.sync()
        try await second.sync()
        #expect(try await first.get(key) == "earlier")
        #expect(try await second.get(key) == "earlier")
        let replaced = try await keeper.syncGroup.conflicts().values
        #expect(replaced.count == 1 && replaced[0].size == lost[0].size - 2)
    }

    @Test("expire on both devices at the same time")
    func expiry() async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("name", .custom(name: "rows"))
        let (first, second) = try await homes.pair([.key(key)])
        let end = Date(timeIntervalSinceNow: 3600)
        try await first.set("for an hour", for: key, expires: end)
        try await first.sync()
        try await second.sync()
        let kept = try await second.attributes(of: AnyStorageKey(key))?.expires
        #expect(kept == end.nanoseconds)
    }

    @Test("of a manual key are published on request; one that is too large is reported")
    func manual() async throws {
        let homes = try SyncHomes()
        let (manual, small) = (MigrationHome.synced("manual", .fileSystem(), .manual), MigrationHome.synced("small"))
        let (first, second) = try await homes.pair([.key(manual), .key(small)])
        await first.updateSyncConfiguration(SyncConfiguration(maxAutoSyncSize: 10))
        try await first.set("manual, and of many bytes", for: manual)
        try await first.set("small, but not so small", for: small)
        #expect(try await first.sync().tooLarge == ["userDefaults/small"])
        #expect(try await first.syncGroup.report().tooLarge == ["userDefaults/small"])
        #expect(try await second.sync().changed.isEmpty)
        try await first.sync(manual)
        try await second.sync()
        #expect(try await second.get(manual) == "manual, and of many bytes")
        #expect(try await !second.exists(small))
        try await first.set(String(repeating: "x", count: 17 << 20), for: manual)
        await #expect(throws: StorageError.dataTooLargeForSync) { try await first.sync(manual) }
        let other = MigrationHome.synced("other", .userDefaults(), .never)
        await #expect(throws: StorageError.unregisteredKey) { try await first.sync(other) }
    }

    @Test("are not removed in bulk without consent")
    func removals() async throws {
        let homes = try SyncHomes()
        let keys = (0..<30).map { MigrationHome.synced("key \($0)", .custom(name: "rows")) }
        let (first, second) = try await homes.pair(keys.map { .key($0) })
        for key in keys { try await first.set("value", for: key) }
        try await first.sync()
        #expect(try await second.sync().changed.count == 30)
        for key in keys { try await first.remove(key) }
        try await first.sync()
        #expect(try await second.sync().removalsToAccept == 30)
        #expect(try await second.exists(keys[0]))
        // Another process knows of the pending removals, too.
        #expect(try await homes.router(1, keys.map { .key($0) }).syncGroup.report().removalsToAccept == 30)
        #expect(try await homes.router(1, keys.map { .key($0) }).sync().removalsToAccept == 30)
        #expect(try await second.syncGroup.acceptRemovals().removalsToAccept == 0)
        for key in keys { #expect(try await !second.exists(key)) }
    }

    @Test("of two keys whose names differ only in the encoding of a character do not mix")
    func encodings() async throws {
        let homes = try SyncHomes()
        let keys = ["caf\u{e9}", "cafe\u{301}"].map { MigrationHome.synced($0, .custom(name: "rows")) }
        let (first, second) = try await homes.pair(keys.map { .key($0) })
        for (number, key) in keys.enumerated() { try await first.set("of \(number)", for: key) }
        for _ in 0..<2 { for device in [first, second] { try await device.sync() } }
        for (number, key) in keys.enumerated() {
            #expect(try await second.get(key) == "of \(number)")
            try await second.set("back \(number)", for: key)
        }
        for _ in 0..<2 { for device in [first, second] { try await device.sync() } }
        for (number, key) in keys.enumerated() { #expect(try await first.get(key) == "back \(number)") }
        #expect(try await first.syncGroup.report().refused.forged == 0)
    }

    @Test("of a newer version than the app knows are kept aside, until it knows them")
    func newerVersions() async throws {
        let homes = try SyncHomes()
        let domain = StorageDomain.custom(name: "rows")
        let newer = StorageKey<Note.V3>(
            name: "note", domain: domain, security: .none, owner: "tests", description: "a note",
            syncPolicy: .automaticSmall, migrator: try Note.migrator())
        let older = MigrationHome.synced("note", domain, as: Note.V1.self)
        let first = try await homes.router(0, [.key(newer)])
        let second = try await homes.router(1, [.key(older)])
        try await first.syncGroup.create()
        try await second.syncGroup.join(try await first.syncGroup.invite().code)
        try await second.set(Note.V1(text: "of the older"), for: older)
        try await second.sync()
        try await first.sync()
        #expect(try await first.get(newer) == Note.V3(title: "of the older", tags: []))
        try await first.set(Note.V3(title: "of the newer", tags: ["a"]), for: newer)
        try await first.sync()
        #expect(try await second.sync().changed.isEmpty)
        #expect(try await second.get(older) == Note.V1(text: "of the older"))
        // Its own changes continue, and destroy nothing.
        let updated = try await homes.router(1, [.key(newer)])
        #expect(try await updated.sync().changed == ["rows/note"])
        #expect(try await updated.get(newer) == Note.V3(title: "of the newer", tags: ["a"]))
    }

    @Test("in large numbers reach a new device, and change, whichever process changes them")
    func many() async throws {
        let keys = (0..<60).map { MigrationHome.synced("key\($0)", .custom(name: "rows")) }
        let all = keys.map { AnyStorageKey.key($0) }
        let homes = try SyncHomes()
        let (first, app) = (try await homes.router(0, all), try await homes.router(0, all))
        try await first.syncGroup.create(named: "first")
        for (number, key) in keys.dropLast(5).enumerated() { try await first.set("\(number)", for: key) }
        try await first.sync()
        let second = try await homes.router(1, all)
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "second")
        for router in [first, second] { #expect(try await router.sync().changed.isEmpty) }
        #expect(try await second.get(keys[54]) == "54")
        #expect(try await !second.exists(keys[55]))
        // Another process changes, removes and adds values.
        try await app.set("new", for: keys[3])
        try await app.remove(keys[4])
        try await app.set("late", for: keys[59])
        try await first.sync()
        #expect(Set(try await second.sync().changed) == ["rows/key3", "rows/key4", "rows/key59"])
        try await app.set("3", for: keys[3])
        try await first.sync()
        #expect(try await second.sync().changed == ["rows/key3"])
        #expect(try await second.get(keys[3]) == "3")
        #expect(try await second.sync().pending == 0)
    }

    @Test("arrive by themselves while both devices sync continuously")
    func continuous() async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("name", .fileSystem())
        let (first, second) = try await homes.pair([.key(key)])
        let changes = second.syncGroup.changes()
        let syncing = [first, second].map { router in Task { try await router.syncContinuously() } }
        try await first.set("by itself", for: key)
        for await address in changes {
            #expect(address.hasSuffix("/name"))
            break
        }
        #expect(try await second.get(key) == "by itself")
        for task in syncing { task.cancel() }
        for task in syncing { await #expect(throws: CancellationError.self) { try await task.value } }
    }

    @Test("are exported to a snapshot and imported from it, for apps with their own transport")
    func snapshots() async throws {
        let homes = try SyncHomes()
        let (key, number) = (MigrationHome.synced("name"), MigrationHome.synced("number", as: Int.self))
        let never = MigrationHome.synced("never", .userDefaults(), .never)
        let keys: [AnyStorageKey] = [.key(key), .key(number), .key(never)]
        let (first, second) = (try await homes.router(0, keys), try await homes.router(1, keys))
        try await first.set("value", for: key)
        try await first.set(1, for: number)
        try await first.set("stays", for: never)
        var snapshot = await first.syncSnapshot()
        #expect(snapshot.keys.sorted() == ["name", "number"])
        for name in ["unknown", "never"] { snapshot[name] = Self.sent("userDefaults/\(name)", "1") }
        let report = try await second.apply(snapshot: snapshot)
        #expect(report.stored == ["userDefaults/name", "userDefaults/number"])
        #expect(report.failures.keys.sorted() == ["never", "unknown"])
        #expect(try await second.get(key) == "value")
        #expect(try await second.get(number) == 1)
        #expect(try await !second.exists(never))
        // A value that this app cannot read does not keep the others back.
        snapshot = [
            "name": Self.sent("userDefaults/name", "\"other\""),
            "number": Self.sent("userDefaults/number", "no number"),
        ]
        let mixed = try await second.apply(snapshot: snapshot)
        #expect(mixed.stored == ["userDefaults/name"] && mixed.kept == ["userDefaults/number"])
        #expect(try await second.get(key) == "other")
        #expect(try await second.get(number) == 1)
    }

    /// A value that another device has written a minute from now.
    private static func sent(_ address: String, _ json: String) -> Data {
        SnapshotValue(
            address: address, data: Data(json.utf8), attributes: ValueAttributes(serializer: "json"),
            time: Ledger.now + 60_000_000_000
        ).encoded
    }
}

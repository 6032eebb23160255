import LocalDataAPI
import TestSupport
import Testing

@testable import HostSync
@testable import LocalDataHost

@Suite("Migrations of values that take part in sync", .timeLimit(.minutes(3))) struct SyncedMigrationTests {
    private let old: StorageKey<String> = MigrationHome.synced("old", .fileSystem())

    /// A key whose migration takes the value at `old`.
    private func moving(
        _ policy: MigrationConflictPolicy = .keepDestination, _ sync: SyncPolicy = .automaticSmall
    ) -> StorageKey<String> {
        StorageKey(
            name: "new", domain: .custom(name: "rows"), security: .none, owner: "tests", description: "a key for tests",
            syncPolicy: sync
        ) { [old] key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(old), conflictPolicy: policy))
        }
    }

    /// Prepares two devices with an older version of the app; both have its value.
    private func older(_ homes: SyncHomes) async throws {
        let (first, second) = try await homes.pair([.key(old)])
        try await first.set("of the older app", for: old)
        try await first.sync()
        try await second.sync()
        #expect(try await second.get(old) == "of the older app")
    }

    private func reason(_ result: MigrationResult) -> String {
        if case .skipped(let reason) = result.outcome { reason } else { "\(result.outcome)" }
    }

    @Test("run on the leading device, and reach the others by sync", arguments: [true, false])
    func lead(listsOld: Bool) async throws {
        let homes = try SyncHomes()
        try await older(homes)
        let new = moving()
        let keys: [AnyStorageKey] = listsOld ? [.key(old), .key(new)] : [.key(new)]
        let (first, second) = (try await homes.router(0, keys), try await homes.router(1, keys))
        for result in [
            try await second.forceMigration(for: new),
            MigrationResult(
                success: true, outcome: try #require(try await second.migrate([.key(new)]).entries.first).outcome),
        ] {
            #expect(reason(result).contains("it waits for the device 'first'"))
        }
        try await second.registerMigration(try #require(new.migration))
        let planned = try #require(try await second.migrations.plan().entries.first)
        #expect(planned.decision == .skipped && planned.why.contains("'first'"))
        #expect(try await second.migrate().failures.isEmpty)
        await #expect(throws: MigrationError.migrationInProgress) { try await second.get(new) }
        #expect(try await homes.homes[1].router().get(old) == "of the older app")
        // The migration syncs by itself.
        #expect(try await first.forceMigration(for: new).outcome == .migrated)
        #expect(try await second.sync().changed.contains("rows/new"))
        #expect(try await second.get(new) == "of the older app")
        if listsOld { #expect(try await !second.exists(old)) }
        #expect(try await first.sync().changed.isEmpty)
        #expect(try await first.get(new) == "of the older app")
    }

    @Test(
        "are not repeated by a device that leads later, with the data that it had before",
        arguments: MigrationConflictPolicy.allCases)
    func laterLead(policy: MigrationConflictPolicy) async throws {
        let homes = try SyncHomes()
        try await older(homes)
        let new = moving(policy)
        let (first, second) = (try await homes.router(0, [.key(new)]), try await homes.router(1, [.key(new)]))
        try await first.forceMigration(for: new)
        try await first.set("newer", for: new)
        try await first.sync()
        try await second.sync()
        try await first.syncGroup.leave()
        try await second.sync()
        for router in [second, try await homes.router(1, [.key(new)])] {
            let outcome = try await router.forceMigration(for: new).outcome
            #expect([.nothingToDo, .sourceDropped, .destinationKept].contains(outcome))
            #expect(try await router.get(new) == "newer")
        }
        // Data that older software writes later has not been migrated yet.
        let other = try await homes.router(1, [.key(new), .key(old)])
        try await other.set("of older software", for: old)
        if policy == .takeSource {
            #expect(try await other.forceMigration(for: new).outcome == .migrated)
            #expect(try await other.get(new) == "of older software")
        }
    }

    @Test("restore no value that another device has removed", arguments: MigrationConflictPolicy.allCases)
    func removed(policy: MigrationConflictPolicy) async throws {
        let homes = try SyncHomes()
        try await older(homes)
        let new = moving(policy)
        let (first, second) = (try await homes.router(0, [.key(new)]), try await homes.router(1, [.key(new)]))
        try await first.forceMigration(for: new)
        try await second.sync()
        try await first.remove(new)
        for router in [first, second, first, second] { try await router.sync() }
        try await first.syncGroup.leave()
        try await second.sync()
        for router in [second, try await homes.router(1, [.key(new)])] {
            await #expect(throws: StorageError.notFound) { try await router.get(new) }
            try await router.forceMigration(for: new)
            await #expect(throws: StorageError.notFound) { try await router.get(new) }
        }
    }

    @Test("run on a phone rather than on a more senior device, and never on a watch")
    func roles() async throws {
        let homes = try SyncHomes(3)
        let new = moving()
        func router(_ index: Int, _ role: String) async throws -> StorageRouter {
            try await homes.router(index, [.key(old), .key(new)], "device: { role: \"\(role)\" },")
        }
        let watch = try await router(0, "watch")
        try await watch.syncGroup.create(named: "wrist")
        try await watch.set("of the watch", for: old)
        #expect(reason(try await watch.forceMigration(for: new)).contains("no device of the sync group leads"))
        let desk = try await router(1, "all")
        try await desk.syncGroup.join(try await watch.syncGroup.invite().code, named: "desk")
        try await watch.sync()
        #expect(reason(try await watch.forceMigration(for: new)).contains("'desk'"))
        let phone = try await router(2, "phone")
        try await phone.syncGroup.join(try await desk.syncGroup.invite().code, named: "phone")
        for router in [watch, desk, phone] { try await router.sync() }
        #expect(reason(try await watch.forceMigration(for: new)).contains("'phone'"))
        #expect(reason(try await desk.forceMigration(for: new)).contains("'phone'"))
        #expect(try await phone.forceMigration(for: new).outcome == .migrated)
        for router in [desk, watch] {
            try await router.sync()
            #expect(try await router.get(new) == "of the watch")
        }
    }

    @Test("run as usual without a group, and for values that do not take part")
    func others() async throws {
        let homes = try SyncHomes()
        let (new, own) = (moving(), moving(.keepDestination, .never))
        let alone = try await homes.router(0, [.key(old), .key(new)])
        try await alone.set("alone", for: old)
        #expect(try await alone.get(new) == "alone")
        let pair = try SyncHomes()
        _ = try await pair.pair([.key(old)])
        // The older value no longer takes part, so its removal stays on this device.
        let second = try await pair.router(1, [.key(own)])
        try await pair.router(1, [.key(old)]).set("own", for: old)
        #expect(try await second.get(own) == "own")
        // It would get the value from the other device.
        let both = try await pair.router(1, [.key(own), .key(old)])
        try await both.set("again", for: old)
        try await both.remove(own)
        let error = await MigrationError.of { try await both.forceMigration(for: own) }
        #expect(error?.code == .validationFailed && error?.message.contains("/old', which takes part in sync") == true)
        #expect(try await both.get(old) == "again")
    }

    @Test("that cannot be synced at once are synced by the next process")
    func interrupted() async throws {
        let homes = try SyncHomes()
        try await older(homes)
        let new = moving()
        let (first, second) = (try await homes.router(0, [.key(new)]), try await homes.router(1, [.key(new)]))
        let run = try await homes.shared.whileAway { try await first.forceMigration(for: new) }
        #expect(run.outcome == .migrated)
        try await second.sync()
        await #expect(throws: MigrationError.migrationInProgress) { try await second.get(new) }
        try await homes.router(0, [.key(new)]).sync()
        try await second.sync()
        #expect(try await second.get(new) == "of the older app")
    }

    @Test("in bulk leave the values that take part to the leading device")
    func bulk() async throws {
        let homes = try SyncHomes()
        let domain = StorageDomain.custom(name: "rows")
        let (synced, own) = (MigrationHome.synced("new.a", domain), MigrationHome.synced("new.b", domain, .never))
        let keys: [AnyStorageKey] = [.key(synced), .key(own)]
        func migrating(_ index: Int) async throws -> StorageRouter {
            let router = try await homes.router(index, keys)
            try await router.registerMigration(
                SimpleBulkMigration(
                    id: "move", from: BulkMigrationTests.range(domain, "old."),
                    to: BulkMigrationTests.range(domain, "new.")))
            return router
        }
        _ = try await homes.pair(keys)
        for (index, home) in homes.homes.enumerated() {
            let older = try home.router()
            for name in ["a", "b"] {
                let key: StorageKey<String> = MigrationHome.key("old.\(name)", domain)
                try await older.set("\(name) of \(index)", for: key)
            }
        }
        let (first, second) = (try await migrating(0), try await migrating(1))
        #expect(try await second.migrations.plan().entries.map(\.count) == [1])
        #expect(try await second.migrate().entries.map(\.migratedCount) == [1])
        await #expect(throws: StorageError.notFound) { try await second.get(synced) }
        #expect(try await second.get(own) == "b of 1")
        #expect(try await first.migrate().entries.map(\.migratedCount) == [2])
        try await second.sync()
        #expect(try await second.get(synced) == "a of 0")
        #expect(try await first.get(own) == "b of 0")
    }

    @Test("to a newer version of a value are stored by the leading device, and read by the others")
    func versions() async throws {
        let homes = try SyncHomes()
        let domain = StorageDomain.custom(name: "rows")
        let newer = StorageKey<Note.V3>(
            name: "note", domain: domain, security: .none, owner: "tests", description: "a note",
            syncPolicy: .automaticSmall, migrator: try Note.migrator())
        let older = MigrationHome.synced("note", domain, as: Note.V1.self)
        let (first, second) = try await homes.pair([.key(older)])
        try await second.set(Note.V1(text: "older"), for: older)
        try await second.sync()
        try await first.sync()
        let (updated, other) = (try await homes.router(0, [.key(newer)]), try await homes.router(1, [.key(newer)]))
        let stored = try await other.data(for: .key(newer))
        #expect(try await other.get(newer).title == "older")
        #expect(try await other.data(for: .key(newer)) == stored)
        #expect(try await updated.get(newer).title == "older")
        // Only sync knows which version of the value it converts.
        #expect(try await updated.data(for: .key(newer)) == stored)
        try await updated.sync()
        #expect(try await updated.data(for: .key(newer)) != stored)
        #expect(try await other.sync().changed == ["rows/note"])
        #expect(try await other.data(for: .key(newer)) == updated.data(for: .key(newer)))
    }

    @Test("take part as a pack says, if the app has no catalog")
    func packs() async throws {
        let homes = try SyncHomes()
        func router(_ index: Int) async throws -> StorageRouter {
            let router = try await homes.router(
                index, [], "migrations: { packs: { ours: { component: \"synced-pack\" } } },")
            try await router.registerPlugin(named: "SyncedPack", SyncedPack.table.pointer)
            return router
        }
        let (first, second) = (try await router(0), try await router(1))
        let (older, newer) = (SyncedPack.key("old", .never), SyncedPack.key("new"))
        for router in [first, second] { try await router.set("older", for: older) }
        try await first.syncGroup.create(named: "first")
        try await second.syncGroup.join(try await first.syncGroup.invite().code, named: "second")
        try await first.sync()
        #expect(try await second.migrations.plan().entries.map(\.decision) == [.skipped])
        #expect(try await second.migrate().failures.isEmpty)
        await #expect(throws: StorageError.notFound) { try await second.get(newer) }
        #expect(try await first.migrate().entries.map(\.outcome) == [.migrated])
        #expect(try await second.sync().changed.count == 1)
        #expect(try await second.get(newer) == "older")
    }

    @Test("cannot sync by themselves: they would wait for each other")
    func inside() async throws {
        let homes = try SyncHomes()
        let key = MigrationHome.synced("new", .custom(name: "rows"))
        let (first, _) = try await homes.pair([.key(key)])
        let migration = ScriptedMigration(destinationKey: key) { router, _ in
            try await first.sync()
            return MigrationResult(success: true)
        }
        try await first.registerMigration(AnyStorageMigration(migration))
        let report = try await first.migrate()
        #expect(report.failures.first?.error?.message.contains("a migration cannot sync") == true)
    }
}

/// A migration pack that gives its key a sync policy.
private struct SyncedPack: MigrationPack {
    static let component = ComponentInfo(id: "synced-pack", summary: "a migration of a synced value")

    init(options: ComponentOptions, host: HostServices) throws {}

    static func key(_ name: String, _ policy: SyncPolicy = .automaticSmall) -> StorageKey<String> {
        StorageKey(
            name: name, domain: .custom(name: "rows"), security: .none, owner: "the pack",
            description: "a key of a pack", syncPolicy: policy)
    }

    var migrations: [AnyStorageMigration] {
        [
            AnyStorageMigration(
                SimpleLegacyMigration(
                    destinationKey: Self.key("new"), sourceKey: .key(Self.key("old", .never))))
        ]
    }

    static let table = LinkedPack.Entry(Plugin.export("SyncedPack", version: "1.0.0", .migrations(SyncedPack.self)))
}

import FoundationEssentials
import LocalDataAPI
import Synchronization
import Testing

@testable import HostGround
@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

@Suite("values that are moved in bulk", .timeLimit(.minutes(5))) struct PlainChunkTests {
    /// A counter, since each name can export only one table.
    private static let names = Atomic<Int>(0)
    private static let values = 5

    private let before = StorageDomain.custom(name: "before")
    private let after = StorageDomain.custom(name: "after")
    private let store = MeddledStore()

    private func key(_ number: Int, _ domain: StorageDomain, _ prefix: String) -> StorageKey<String> {
        BulkMigrationTests.key("\(prefix)\(number)", domain)
    }

    private func router(_ fixture: FixtureBuilder) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { before: \"meddled\", after: \"meddled\" }"))
        let name = "meddled \(Self.names.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(MeddledStore.self) { [store] _, _ in store }))
        return router
    }

    private func fill(_ router: StorageRouter) async throws {
        for number in 1...Self.values { try await router.set("\(number)", for: key(number, before, "old.")) }
    }

    /// A run in chunks of two values.
    private func run(_ router: StorageRouter) async throws -> MigrationResult {
        let snapshot = try await router.snapshot()
        let migration = AnyBulkMigration(BulkMigrationTests.move(before, after))
        let ledger = try BulkLedger(
            migration, from: try BulkPlace(migration.source, snapshot),
            to: try BulkPlace(migration.destination, snapshot), snapshot, chunkSize: 2)
        return try await Task(executorPreference: IOExecutor.shared) {
            try await BulkRun(ledger, policy: .keepDestination).all(besides: [], progress: nil)
        }.value
    }

    @Test("stopped before or after every change, no value is lost, and the next run ends like an uninterrupted one")
    func everyChange() async throws {
        for isBefore in [true, false] {
            var (number, isStopped) = (0, true)
            while isStopped {
                let fixture = try FixtureBuilder()
                defer { fixture.remove() }
                let router = try await router(fixture)
                for name in Set(try await router.names(in: after)) { _ = store.values.remove(address(after, name)) }
                try await fill(router)
                let stop: MeddledStore.Meddling = { [number] count, _ in
                    if count >= number { throw StorageError(.fileError, "stopped") }
                }
                if isBefore { store.meddle(before: stop) } else { store.meddle(after: stop) }
                do {
                    _ = try await run(router)
                    isStopped = false
                } catch let error as StorageError { #expect(error.code == .fileError) }
                store.meddle()
                let next = try await self.router(fixture)
                for number in 1...Self.values {
                    let old = try await next.data(for: .key(key(number, before, "old.")))
                    let new = try await next.data(for: .key(key(number, after, "new.")))
                    let value = Data("\"\(number)\"".utf8)
                    #expect(old == value && (new == nil || new == value) || old == nil && new == value)
                }
                _ = try await run(next)
                for number in 1...Self.values {
                    #expect(try await next.get(key(number, after, "new.")) == "\(number)")
                }
                #expect(try await next.names(in: before).isEmpty)
                #expect(try await run(next).outcome == .nothingToDo)
                try await next.registerMigration(BulkMigrationTests.move(before, after))
                try await next.migrations.rollback("move")
                #expect(try await next.names(in: before).count == Self.values)
                for name in try await next.names(in: before) { _ = store.values.remove(address(before, name)) }
                number += 1
            }
            // Three chunks, each of which is written and removed.
            #expect(number == 7, "\(number)")
        }
    }

    private func address(_ domain: StorageDomain, _ name: String) -> StorageAddress {
        StorageAddress(StorageNamespace(domain: domain.name), name: name)
    }

    @Test("a source that is changed after it was read stays, and is counted")
    func changedMeanwhile() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try await router(fixture)
        try await fill(router)
        let changed = address(before, "old.2")
        store.meddle(before: { number, values in
            guard number == 1 else { return }
            let value = Data("\"newer\"".utf8)
            values.set(changed, to: value.bytes, attributes: nil)
        })
        let result = try await run(router)
        #expect(result.metadata["left"] == AnyCodable(.int(1)) && result.migratedCount == Self.values)
        #expect(try await router.names(in: before) == ["old.2"])
        #expect(try await router.get(key(2, before, "old.")) == "newer")
        #expect(try await router.get(key(2, after, "new.")) == "2")
        // A later run keeps the source, too, without another change of it.
        store.meddle()
        #expect(try await run(router).outcome == .destinationKept)
        #expect(try await router.get(key(2, before, "old.")) == "newer")
    }

    @Test("a source that changes all the time stays, and does not block the other values")
    func changedAllTheTime() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try await router(fixture)
        try await fill(router)
        let changed = address(before, "old.2")
        store.meddle(before: { number, values in
            guard number > 0 else { return }
            let value = Data("\"newer \(number)\"".utf8)
            values.set(changed, to: value.bytes, attributes: nil)
        })
        let result = try await run(router)
        #expect(result.metadata["left"] == AnyCodable(.int(1)) && result.migratedCount == Self.values)
        #expect(try await router.names(in: before) == ["old.2"])
        #expect(try await router.get(key(2, before, "old.")).hasPrefix("newer"))
        #expect(try await router.get(key(5, after, "new.")) == "5")
    }

    @Test("a destination that is stored after the sources were read is kept")
    func destinationMeanwhile() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try await router(fixture)
        try await fill(router)
        let new = address(after, "new.3")
        store.meddle(before: { number, values in
            guard number == 2 else { return }
            let value = Data("\"there\"".utf8)
            values.set(new, to: value.bytes, attributes: nil)
        })
        let result = try await run(router)
        #expect(result.metadata["kept"] == AnyCodable(.int(1)) && result.migratedCount == Self.values - 1)
        #expect(try await router.get(key(3, after, "new.")) == "there")
        #expect(try await router.names(in: before) == ["old.3"])
    }

    @Test("nothing is removed if a value does not read back as written")
    func unverified() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        for altered in [Data("\"9\"".utf8), nil] {
            let router = try await router(fixture)
            try await fill(router)
            let new = address(after, "new.3")
            store.meddle(after: { number, values in
                guard number == 2 else { return }
                if let altered { values.set(new, to: altered.bytes, attributes: nil) } else { _ = values.remove(new) }
            })
            let error = await MigrationError.of { try await run(router) }
            #expect(error?.code == .validationFailed && error?.message.contains("new.3") == true)
            #expect(try await router.names(in: before) == ["old.3", "old.4", "old.5"])
            try await router.registerMigration(BulkMigrationTests.move(before, after))
            #expect(try await router.migrations.record(of: "move")?.state == .unverified)
            store.meddle()
            _ = try await run(router)
            #expect(try await router.names(in: before) == ["old.3"])
            for name in try await router.names(in: before) { _ = store.values.remove(address(before, name)) }
            for name in try await router.names(in: after) { _ = store.values.remove(address(after, name)) }
        }
    }

    /// A home whose database has 5,000 values, which is more than a chunk.
    private func database(
        _ count: Int = 5000, _ body: (StorageRouter, _ from: StorageDomain, _ to: StorageDomain) async throws -> Void
    ) async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let (from, to) = (StorageDomain.custom(name: "rows"), StorageDomain.custom(name: "rows", scope: "other"))
        let router = try home.router()
        var batch = StorageBatch()
        for number in 1...count { try batch.set("\(number)", for: key(number, from, "old.")) }
        try await router.apply(batch)
        try await body(router, from, to)
    }

    @Test("a value whose destination has one is treated as the policy says, in bulk too", arguments: [true, false])
    func policies(_ takesSource: Bool) async throws {
        try await database { router, from, to in
            for number in [1, 4096, 5000] { try await router.set("there", for: key(number, to, "new.")) }
            let policy: MigrationConflictPolicy = takesSource ? .takeSource : .keepDestination
            try await router.registerMigration(BulkMigrationTests.move(from, to, policy))
            let result = try await router.runMigration("move")
            #expect(result.migratedCount == (takesSource ? 5000 : 4997))
            #expect(try await router.names(in: from).count == (takesSource ? 0 : 3))
            for number in [1, 4096, 5000] {
                #expect(try await router.get(key(number, to, "new.")) == (takesSource ? "\(number)" : "there"))
            }
            #expect(try await router.get(key(4097, to, "new.")) == "4097")
            try await router.migrations.rollback("move")
            #expect(try await router.names(in: from).count == 5000)
            #expect(try await router.get(key(4096, to, "new.")) == "there")
            #expect(try await router.names(in: to).count == 3)
        }
    }

    @Test("a few values move to a namespace with many values between them")
    func neighbours() async throws {
        try await database(3) { router, from, to in
            var batch = StorageBatch()
            for number in 0..<6000 { try batch.set("other", for: BulkMigrationTests.key("new.1-\(number)", to)) }
            try await router.apply(batch)
            try await router.registerMigration(BulkMigrationTests.move(from, to))
            #expect(try await router.runMigration("move").migratedCount == 3)
            for number in 1...3 { #expect(try await router.get(key(number, to, "new.")) == "\(number)") }
            #expect(try await router.names(in: to).count == 6003)
        }
    }

    @Test("large values, empty ones and those in pieces are moved among small ones")
    func sizes() async throws {
        try await database(10) { router, from, to in
            var values: [String: Data] = [:]
            for (index, size) in [0, 1, 4090, 4096, 5000, 300_000, 1 << 20, (1 << 20) + 1, 3 << 20].enumerated() {
                for number in [index, index + 20] {
                    values["\(number)"] = Data(repeating: UInt8(number + 1), count: size)
                }
            }
            func key(_ name: String, _ domain: StorageDomain) -> StorageKey<Data> {
                MigrationHome.key(name, domain, as: .data)
            }
            for (name, value) in values { try await router.set(value, for: key("old.\(name)", from)) }
            try await router.registerMigration(BulkMigrationTests.move(from, to))
            // Eight of the ten small values were overwritten above.
            #expect(try await router.runMigration("move").migratedCount == values.count + 2)
            for (name, value) in values { #expect(try await router.get(key("new.\(name)", to)) == value, "\(name)") }
            #expect(try await router.names(in: from).isEmpty)
            try await router.migrations.rollback("move")
            for (name, value) in values { #expect(try await router.get(key("old.\(name)", from)) == value, "\(name)") }
        }
    }
}

import FoundationEssentials
import LocalDataAPI
import Synchronization
import Testing

@testable import HostGround
@testable import HostMigration
@testable import HostPlugins
@testable import LocalDataHost

@Suite("interrupted bulk migrations", .timeLimit(.minutes(5))) struct BulkInterruptionTests {
    /// A counter, since each name can export only one table.
    private static let names = Atomic<Int>(0)
    private static let values = 5

    private let before = StorageDomain.custom(name: "before")
    private let after = StorageDomain.custom(name: "after")

    private func router(_ fixture: FixtureBuilder, _ store: StoppingStore) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { before: \"stopping\", after: \"stopping\" }"))
        let name = "stopping in bulk \(Self.names.wrappingAdd(1, ordering: .relaxed).newValue)"
        try await router.registerPlugin(
            named: name, Plugin.export(name, version: "0", .storage(StoppingStore.self) { _, _ in store }))
        return router
    }

    /// A store with values to move, of which one replaces another, and a router.
    private func filled(_ fixture: FixtureBuilder) async throws -> (StoppingStore, StorageRouter) {
        let store = StoppingStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0"))
        let router = try await router(fixture, store)
        for number in 1...Self.values {
            try await router.set("\(number)", for: BulkMigrationTests.key("old.\(number)", before))
        }
        try await router.set("replaced", for: BulkMigrationTests.key("new.3", after))
        return (store, router)
    }

    private var migration: AnyBulkMigration {
        AnyBulkMigration(
            SimpleBulkMigration(
                id: "move", from: BulkMigrationTests.range(before, "old."),
                to: BulkMigrationTests.range(after, "new."), conflictPolicy: .takeSource))
    }

    /// A run in chunks of two values.
    private func run(_ router: StorageRouter) async throws -> MigrationResult {
        let snapshot = try await router.snapshot()
        let ledger = try BulkLedger(
            migration, from: try BulkPlace(migration.source, snapshot),
            to: try BulkPlace(migration.destination, snapshot), snapshot, chunkSize: 2)
        return try await Task(executorPreference: IOExecutor.shared) {
            try await BulkRun(ledger, policy: .takeSource).all(besides: [], progress: nil)
        }.value
    }

    @Test("stopped at every change, no value is lost, and the next run ends like an uninterrupted one")
    func everyChange() async throws {
        var isStopped = true
        var count = 0
        var rows: [Int] = []
        while isStopped {
            let fixture = try FixtureBuilder()
            defer { fixture.remove() }
            let (store, router) = try await filled(fixture)
            store.stop(after: count)
            do {
                _ = try await run(router)
                isStopped = false
            } catch let error as StorageError {
                #expect(error.code == .fileError || error.code == .durabilityUnknown, "\(count): \(error)")
            }
            store.goOn()
            // Another process resumes; it first completes a batch that was decided.
            let next = try await self.router(fixture, store)
            _ = try await next.snapshot()
            for number in 1...Self.values {
                let old = try await next.data(for: .key(BulkMigrationTests.key("old.\(number)", before)))
                let new = try await next.data(for: .key(BulkMigrationTests.key("new.\(number)", after)))
                let value = Data("\"\(number)\"".utf8)
                #expect(old == value || old == nil && new == value, "\(count): \(number)")
            }
            _ = try await run(next)
            for number in 1...Self.values {
                #expect(try await next.get(BulkMigrationTests.key("new.\(number)", after)) == "\(number)", "\(count)")
            }
            #expect(try await next.names(in: before).isEmpty, "\(count)")
            try await next.registerMigration(migration)
            #expect(try await next.migrations.record(of: "move")?.state == .clean, "\(count)")
            #expect(try await run(next).outcome == .nothingToDo, "\(count)")
            rows.append(store.count(in: "localdata.migrations"))
            #expect(store.count(in: "localdata.batch") == 0, "\(count)")
            store.stop(after: count)
            _ = try? await next.migrations.rollback("move")
            store.goOn()
            let last = try await self.router(fixture, store)
            try await last.registerMigration(migration)
            // There is nothing to undo if the last batch was decided.
            _ = try? await last.migrations.rollback("move")
            #expect(try await last.migrations.record(of: "move")?.state == .rolledBack, "\(count)")
            for number in 1...Self.values {
                #expect(try await last.get(BulkMigrationTests.key("old.\(number)", before)) == "\(number)", "\(count)")
            }
            #expect(try await last.get(BulkMigrationTests.key("new.3", after)) == "replaced", "\(count)")
            #expect(try await last.names(in: after) == ["new.3"], "\(count)")
            #expect(store.count(in: "localdata.migrations") == 1, "\(count)")
            count += 1
        }
        #expect(count > 40, "stopped at \(count) changes")
        // A resumed chunk may have its own row; the last run was not stopped.
        let whole = try #require(rows.last)
        #expect(rows.allSatisfy { (whole...whole + 1).contains($0) }, "\(rows)")
    }

    /// What is done after a rollback was interrupted.
    enum Continuation: CaseIterable {
        case resume, rollback, change, run
    }

    @Test(
        "a rollback that is stopped at any change is completed by resuming, keeps later values, and a run goes on",
        arguments: Continuation.allCases)
    func everyUndoing(_ continuation: Continuation) async throws {
        var isStopped = true
        var count = 0
        while isStopped {
            let fixture = try FixtureBuilder()
            defer { fixture.remove() }
            let (store, router) = try await filled(fixture)
            _ = try await run(router)
            try await router.registerMigration(migration)
            store.stop(after: count)
            do {
                try await router.migrations.rollback("move")
                isStopped = false
            } catch {}
            store.goOn()
            let next = try await self.router(fixture, store)
            try await next.registerMigration(migration)
            let state = try await next.migrations.status().migrations.first?.state
            #expect(state.map { [.done, .rollingBack, .rolledBack].contains($0) } == true, "\(count): \(state as Any)")
            var expected = (1...Self.values).map { "\($0)" }
            switch continuation {
            case .resume: _ = try await next.migrations.resume()
            // There is nothing to undo if the last batch was decided, which the next change completes.
            case .rollback where state != .rolledBack: _ = try? await next.migrations.rollback("move")
            case .change where state == .rollingBack:
                // By the app, which already uses the old names again.
                for number in 1...Self.values
                where try await next.data(for: .key(BulkMigrationTests.key("old.\(number)", before))) != nil {
                    try await next.set("later \(number)", for: BulkMigrationTests.key("old.\(number)", before))
                    expected[number - 1] = "later \(number)"
                }
                _ = try? await next.migrations.rollback("move")
            case .run:
                #expect(try await run(next).success)
                for number in 1...Self.values {
                    #expect(
                        try await next.get(BulkMigrationTests.key("new.\(number)", after)) == "\(number)", "\(count)")
                }
                #expect(try await next.names(in: before).isEmpty, "\(count)")
                #expect(try await next.migrations.record(of: "move")?.state == .clean, "\(count)")
                try await next.migrations.rollback("move")
            case .rollback, .change: break
            }
            let isUntouched = state == .done && [.resume, .change].contains(continuation)
            for number in 1...Self.values where !isUntouched {
                let old = try await next.get(BulkMigrationTests.key("old.\(number)", before))
                #expect(old == expected[number - 1], "\(count): \(number)")
            }
            if !isUntouched {
                #expect(try await next.get(BulkMigrationTests.key("new.3", after)) == "replaced", "\(count)")
                #expect(try await next.names(in: after) == ["new.3"], "\(count)")
                #expect(try await next.migrations.record(of: "move")?.state == .rolledBack, "\(count)")
                #expect(store.count(in: "localdata.migrations") == 1, "\(count)")
            }
            count += 1
        }
        #expect(count > 8, "stopped at \(count) changes")
    }

    @Test("nothing is removed if a value does not read back as written")
    func unverified() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let store = StoppingStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0"))
        let router = try await router(fixture, store)
        for number in 1...Self.values {
            try await router.set("\(number)", for: BulkMigrationTests.key("old.\(number)", before))
        }
        store.alter("new.3")
        let error = await MigrationError.of { try await run(router) }
        #expect(error?.code == .validationFailed && error?.message.contains("new.3") == true)
        #expect(try await router.names(in: before) == ["old.3", "old.4", "old.5"])
        _ = try await run(router)
        #expect(try await router.names(in: before) == ["old.3"])
    }
}

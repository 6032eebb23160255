import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("runs of migrations", .timeLimit(.minutes(3))) struct MigrationRunningTests {
    private struct Catalog: StorageKeyCatalog { let allKeys: [AnyStorageKey] }

    private let old: StorageKey<String> = MigrationHome.key("old", .custom(name: "rows"))

    /// A key whose migration counts its runs and moves the old value.
    private func counted(_ runs: Counter) -> StorageKey<String> {
        MigrationHome.key("new", .fileSystem()) { [old] in
            AnyStorageMigration(
                DefaultTransformingMigration(destinationKey: $0, sourceKey: old) {
                    runs.add()
                    return "\($0) \(runs.value)"
                })
        }
    }

    @Test("seed defect 15: three concurrent callers get the value of one run")
    func callers() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("data", for: old)
        let runs = Counter()
        let key = counted(runs)
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<3 { group.addTask { try await router.get(key) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == ["data 1", "data 1", "data 1"] && runs.value == 1)
    }

    @Test("seed defect 15: of routers that share only the stores, one runs the migration")
    func routers() async throws {
        for round in 0..<10 {
            let home = try MigrationHome()
            defer { home.remove() }
            try await home.router().set("data", for: old)
            let runs = Counter()
            let routers = try (0..<4).map { _ in try home.router() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for router in routers {
                    group.addTask {
                        let value = try await router.get(counted(runs))
                        #expect(value == "data 1", "round \(round)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(runs.value == 1)
        }
    }

    @Test("of routers that spell the destination's folder differently, one runs the migration")
    func spellings() async throws {
        for round in 0..<10 {
            let home = try MigrationHome()
            defer { home.remove() }
            let folder = home.home.folder
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: ".")
            let routers = try ["", "/link", "/link/link", "/./link"].map {
                try home.home.router(
                    domains: "fileSystem: \"file\", rows: \"rows\"",
                    "stores: { rows: { component: \"file\", options: { root: \"\(folder)\($0)/rows\" } } }")
            }
            let source: StorageKey<String> = MigrationHome.key("old", .fileSystem())
            try await routers[0].set("data", for: source)
            let runs = Counter()
            let key: StorageKey<String> = MigrationHome.key("new", .custom(name: "rows")) {
                AnyStorageMigration(
                    DefaultTransformingMigration(destinationKey: $0, sourceKey: source) {
                        runs.add()
                        return "\($0) \(runs.value)"
                    })
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for router in routers {
                    group.addTask {
                        let value = try await router.get(key)
                        #expect(value == "data 1", "round \(round)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(runs.value == 1)
        }
    }

    @Test("more keys than there are threads can be migrated at once")
    func many() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let count = IOExecutor.limit + 16
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let source: StorageKey<Int> = MigrationHome.key("old \(number)", .custom(name: "rows"))
                let key: StorageKey<Int> = MigrationHome.key("new \(number)", .fileSystem()) {
                    AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source)))
                }
                group.addTask {
                    try await router.set(number, for: source)
                    let value = try await router.get(key)
                    #expect(value == number)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("seed defect 5: a run reports the outcome of every key, in order, and continues after a failure")
    func sweep() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        var keys: [AnyStorageKey] = []
        for name in ["a", "b", "c", "d"] {
            let source: StorageKey<Int> = MigrationHome.key("old \(name)", .fileSystem())
            if name != "c" { try await router.setData(Data((name == "b" ? "{" : "7").utf8), for: .key(source)) }
            let key: StorageKey<Int> = MigrationHome.key(name, .fileSystem()) {
                AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source)))
            }
            keys.append(.key(key))
        }
        let plain: StorageKey<Int> = MigrationHome.key("plain", .fileSystem())
        let report = try await router.registerCatalog(
            Catalog(allKeys: [keys[3], .key(plain)] + keys[..<3]), migrateImmediately: true)
        #expect(report.entries.map(\.destination.name) == ["d", "plain", "a", "b", "c"])
        #expect(
            Dictionary(uniqueKeysWithValues: report.entries.map { ($0.destination.name, $0.outcome) })
                == ["a": .migrated, "b": .failed, "c": .nothingToDo, "d": .migrated, "plain": .noMigration])
        #expect(report.failures.map(\.destination.name) == ["b"])
        #expect(report.failures.first?.error?.message.contains("old b") == true)
        #expect(report.entries.compactMap(\.migration).count == 4)
        // A catalog without the sources does not prevent reading them.
        #expect(try await router.get(MigrationHome.key("d", .fileSystem()) as StorageKey<Int>) == 7)
        await #expect(throws: StorageError.unregisteredKey) { try await router.get(old) }
        // The values taken over at registration also count for keys without a migration.
        let rest = try await router.migrate([keys[0], keys[3]])
        #expect(rest.entries.map(\.outcome) == [.nothingToDo, .nothingToDo])
    }

    @Test("a context's history covers all destinations and processes, even during a run")
    func wholeHistory() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        func move(_ name: String, to domain: StorageDomain, _ seen: MutexBox<Set<String>>) -> ScriptedMigration {
            let key: StorageKey<String> = MigrationHome.key(name, domain)
            return ScriptedMigration(destinationKey: key, id: name) { router, context in
                seen.withLock { $0 = Set(context.migrationHistory.keys) }
                try await router.set(name, for: key)
                return MigrationResult(success: true)
            }
        }
        let seen = MutexBox<Set<String>>([])
        let earlier = try home.router()
        try await earlier.registerMigration(move("earlier", to: .custom(name: "rows"), seen))
        #expect(try await earlier.migrate().failures.isEmpty)
        let router = try home.router()
        // This migration brings data to the store of the earlier one.
        try await router.registerMigration(move("first", to: .custom(name: "rows"), seen))
        try await router.registerMigration(move("second", to: .fileSystem(), seen))
        try await router.registerMigration(move("third", to: .fileSystem(), seen))
        #expect(try await router.migrate().entries.map(\.outcome) == [.migrated, .migrated, .migrated])
        #expect(seen.withLock { $0 } == ["earlier", "first", "second"])
    }

    @Test("migrations see the configuration's user settings, which the app's settings override")
    func preferences() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let seen = MutexBox<[String: AnyCodable]>([:])
        let router = try home.router("migrations: { preferences: { fresh: true, theme: \"dark\", sizes: [1, 2] } }")
        await router.updateMigrationPreferences(["theme": "light"])
        let key: StorageKey<String> = MigrationHome.key("new", .fileSystem()) { (key: StorageKey<String>) in
            AnyStorageMigration(
                ScriptedMigration(destinationKey: key) { router, context in
                    seen.withLock { $0 = context.userPreferences }
                    try await router.set("x", for: key)
                    return MigrationResult(success: true)
                })
        }
        #expect(try await router.get(key) == "x")
        #expect(seen.withLock { $0 } == ["fresh": true, "theme": "light", "sizes": [1, 2]])
    }

    @Test("migrations run after their dependencies, and a cycle is refused when it is closed")
    func dependencies() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let order = MutexBox<[String]>([])
        func migration(_ name: String, after: [String]) -> ScriptedMigration {
            let key: StorageKey<String> = MigrationHome.key(name, .fileSystem())
            return ScriptedMigration(destinationKey: key, id: name, dependencies: after) { router, context in
                order.withLock { $0.append(name) }
                #expect(after.allSatisfy { context.migrationHistory[$0] != nil })
                try await router.set(name, for: key)
                return MigrationResult(success: true)
            }
        }
        try await router.registerMigration(migration("third", after: ["second", "first"]))
        let unresolved = await MigrationError.of {
            try await router.forceMigration(for: MigrationHome.key("third", .fileSystem()) as StorageKey<String>)
        }
        #expect(unresolved?.code == .unresolvedDependency && unresolved?.message.contains("'second'") == true)
        try await router.registerMigration(migration("second", after: ["first"]))
        let circle = await MigrationError.of {
            try await router.registerMigration(migration("first", after: ["third"]))
        }
        #expect(circle?.code == .unresolvedDependency)
        #expect(circle?.message.contains("third -> second -> first -> third") == true, "\(String(describing: circle))")
        try await router.registerMigration(migration("first", after: []))
        let third: StorageKey<String> = MigrationHome.key("third", .fileSystem())
        #expect(try await router.get(third) == "third")
        #expect(order.withLock { $0 } == ["first", "second", "third"])
        let elsewhere = ScriptedMigration(destinationKey: old, id: "first") { _, _ in MigrationResult(success: true) }
        await #expect(throws: MigrationError.validationFailed) { try await router.registerMigration(elsewhere) }
    }

    @Test("seed defect 16: every process can read the history, key by key")
    func history() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: "3.1")
        try await router.set("data", for: old)
        let key = counted(Counter())
        #expect(try await router.get(key) == "data 1")
        let history = try await home.router().migrationHistory(for: key)
        let record = try #require(history.first)
        #expect(history.count == 1 && record.id == key.migration?.id && record.revision == 1)
        #expect(record.state == .clean && record.appVersion == "3.1" && record.duration >= 0)
        #expect(record.sources == ["rows/old"] && record.destinations == ["fileSystem:documents/new"])
        #expect(abs(record.date.timeIntervalSinceNow) < 120)
        // The same name in another domain is another key.
        for domain in [StorageDomain.custom(name: "rows"), .fileSystem(directory: .caches)] {
            let other: StorageKey<String> = MigrationHome.key("new", domain)
            #expect(try await router.migrationHistory(for: other).isEmpty)
        }
    }

    @Test("a value that the app removed after it was migrated does not come back; new old data does")
    func removed() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("data", for: old)
        let key = counted(Counter())
        #expect(try await router.get(key) == "data 1")
        try await router.remove(key)
        await #expect(throws: StorageError.notFound) { try await router.get(key) }
        try await router.set("again", for: old)
        #expect(try await router.get(key) == "again 2")
    }

    @Test("a value is migrated in place, once")
    func inPlace() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let (before, after): (StorageKey<Int>, StorageKey<String>) = (
            MigrationHome.key("k", .fileSystem()), MigrationHome.key("k", .fileSystem())
        )
        try await router.set(7, for: before)
        try await router.registerMigration(
            ScriptedMigration(
                destinationKey: after, sources: [.key(before)],
                condition: { router, _ in
                    guard let data = try await router.data(for: .key(before)) else { return false }
                    return (try? AnyStorageKey.key(before).value(Int.self, from: data)) != nil
                },
                script: { router, _ in
                    try await router.set("\(try await router.get(before))", for: after)
                    return MigrationResult(success: true, migratedCount: 1)
                }))
        let result = try await router.forceMigration(for: after)
        #expect(result.outcome == .migrated && result.migratedCount == 1)
        #expect(try await router.get(after) == "7")
        #expect(try await router.forceMigration(for: after).outcome == .nothingToDo)
        try await router.migrations.rollback(of: after)
        #expect(try await router.get(before) == 7)
    }

    @Test("a migration from a key's former location moves its value from domain to domain")
    func changedDomain() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let places: [StorageDomain] = [
            .userDefaults(), .userDefaults(suite: "app"), .fileSystem(), .fileSystem(directory: .caches),
            .fileSystem(directory: .custom(URL(filePath: "\(home.home.folder)/data/own folder"))),
            .encryptedFileSystem(), .keychain(service: "a/b %2F"),
        ]
        var last: StorageKey<String> = MigrationHome.key("k", places[0])
        try await router.set("data", for: last)
        for place in places.dropFirst() {
            let source = last
            let key: StorageKey<String> = MigrationHome.key("k", place) {
                AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source)))
            }
            #expect(try await router.get(key) == "data", "\(place)")
            #expect(try await !router.exists(source), "\(place)")
            last = key
        }
    }
}

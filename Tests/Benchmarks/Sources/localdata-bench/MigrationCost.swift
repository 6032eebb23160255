internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Migrations: the time for many values compared with GRDB's migrator, their memory, one large value, and their cost
/// for an app that has none to run.
struct MigrationCost {
    let setting: Setting
    private static let many = 100_000

    func run() async throws {
        try await sweeps()
        try await memory()
        try await large()
        try await erasure()
        try await reading()
    }

    /// A router for a database of its own.
    private func router(_ name: String, grace: Int?, journal: Bool = true) throws -> StorageRouter {
        let grace = grace.map { "\"migrations\": { \"grace\": \($0) }," } ?? ""
        return try StorageRouter(
            configuration: HostConfiguration(
                text: """
                    {
                      "plugins": { "path": ["\(setting.plugins)/libSQLiteStore.so"] },
                      "directories": {
                        "cache": "\(setting.folder)/cache", "data": "\(setting.folder)/data",
                        "state": "\(setting.folder)/state-\(name)",
                      },
                      "stores": {
                        "rows": {
                          "component": "sqlite", "options": { "path": "\(setting.folder)/\(name).sqlite" },
                        },
                      },
                      \(grace)
                      "domains": { "bench": "rows" },
                    }
                    """))
    }

    private func key(_ name: String, _ scope: String) -> StorageKey<Data> {
        StorageKey(
            name: name, domain: .custom(name: "bench", scope: scope), security: .none, serializer: .data,
            owner: "Benchmarks", description: "A value to measure with.")
    }

    private func fill(_ router: StorageRouter, _ scope: String, _ count: Int) async throws {
        let value = Data(repeating: 7, count: 100)
        // In small batches, which leave little freed memory that would hide the migration's own.
        for start in stride(from: 0, to: count, by: 1000) {
            var batch = StorageBatch()
            for index in start..<min(start + 1000, count) {
                let digits = String(index)
                let name = "key-" + String(repeating: "0", count: 7 - digits.count) + digits
                batch.setData(value, for: .key(key(name, scope)))
            }
            try await router.apply(batch)
        }
    }

    private func move(_ id: String, _ from: String, _ to: String) -> SimpleBulkMigration {
        func range(_ scope: String) -> MigrationRange {
            MigrationRange(
                domain: .custom(name: "bench", scope: scope), security: SecurityPolicy.none, serializer: .data)
        }
        return SimpleBulkMigration(id: id, from: range(from), to: range(to))
    }

    /// Moves so many values and returns the nanoseconds for each.
    private func sweep(_ router: StorageRouter, _ round: Int, _ count: Int) async throws -> Double {
        let id = "round \(round) of \(count)"
        try await fill(router, "old \(id)", count)
        try await router.registerMigration(move(id, "old \(id)", "new \(id)"))
        return try await Nanoseconds.each(count) {
            let moved = try await router.migrate(.only(id)).entries.last?.migratedCount
            try require(moved == count, "\(moved ?? 0) of \(count) values were moved")
        }
    }

    private func sweeps() async throws {
        let path = "\(setting.tools)/grdb"
        for (what, grace) in [("", nil), (", grace 0", 0)] as [(String, Int?)] {
            // A router for a new database in each round; the baseline recreates its database, too.
            func fresh(_ round: Int) throws -> StorageRouter {
                try router("sweeps-\(grace.map { "\($0)-" } ?? "")\(round)", grace: grace)
            }
            let title =
                "verified, journaled move of 100,000 values of 100 B, SQLite to SQLite, each\(what); GRDB's migrator, one "
                + "transaction"
            guard let baseline = try? Companion(path, ["\(setting.folder)/grdb.sqlite"]),
                (try? baseline.ask("fill 1000")) != nil
            else {
                let time = try await sweep(fresh(0), 0, Self.many)
                Row(what: title, ours: microseconds(time), baseline: "", ratio: "").print()
                continue
            }
            var round = 0
            let times = try await Comparison.rounds(5) {
                round += 1
                return try await sweep(fresh(round), round, Self.many)
            } baseline: {
                _ = try baseline.ask("fill \(Self.many) 100")
                return try baseline.ask("move \(Self.many)")
            }
            Row(title, times, atMost: 2).print()
        }
    }

    private func memory() async throws {
        var peaks: [Int] = []
        for count in [10_000, 1_000_000] {
            let router = try router("memory-\(count)", grace: nil)
            try await fill(router, "old", count)
            try await router.registerMigration(move("move", "old", "new"))
            let before = PeakMemory.begin()
            _ = try await router.migrate(.only("move"))
            peaks.append(PeakMemory.end() - before)
        }
        let difference = peaks[1] - peaks[0]
        Row(
            what: "memory that moving 1,000,000 values adds at most; 10,000", ours: mebibytes(peaks[1]),
            baseline: mebibytes(peaks[0]), ratio: "", aim: "<= 16 MiB more", isMet: difference <= 16 << 20
        ).print()
    }

    private func large() async throws {
        let size = 64 << 20
        let router = try router("large", grace: nil)
        let source = key("value", "old")
        let target = StorageKey<Data>(
            name: "value", domain: .custom(name: "bench", scope: "new"), security: .none, serializer: .data,
            owner: "Benchmarks", description: "A value to measure with.",
            migration: { AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(source))) })
        let given = Counter()
        try await router.writeData(for: .key(source)) { span in
            let count = min(span.freeCapacity, size - given.value)
            given.value += count
            span.append(repeating: UInt8(0), count: count, as: UInt8.self)
        }
        let before = PeakMemory.begin()
        let time = try await Nanoseconds.each(1) {
            let outcome = try await router.forceMigration(for: target).outcome
            try require(outcome == .migrated, "the large value was not moved: \(outcome)")
        }
        let added = PeakMemory.end() - before
        Row(
            what: "one value of 64 MiB, SQLite to SQLite; the memory that it adds", ours: microseconds(time),
            baseline: mebibytes(added), ratio: "", aim: "<= 16 MiB", isMet: added <= 16 << 20
        ).print()
    }

    private func erasure() async throws {
        let (key, router) = (key("none", "none"), try setting.memory())
        let migration = NoMigration(destinationKey: key)
        let any = AnyStorageMigration(migration)
        let context = MigrationContext()
        let times = try await Comparison.rounds(41) {
            try await Nanoseconds.each(100_000) {
                for _ in 0..<100_000 { _ = try await any.shouldMigrate(using: router, context: context) }
            }
        } baseline: {
            try await Nanoseconds.each(100_000) {
                for _ in 0..<100_000 { _ = try await migration.shouldMigrate(using: router, context: context) }
            }
        }
        Row("`AnyStorageMigration.shouldMigrate` of a migration that only says no; called directly", times).print()
    }

    private func reading() async throws {
        let (with, without) = (try setting.memory(), try setting.memory())
        for index in 0..<100 {
            let target = key("target \(index)", "none")
            try await with.registerMigration(NoMigration(destinationKey: target, number: index))
        }
        let (first, second) = (Setting.key("value", .data), Setting.key("value", .data))
        for (router, key) in [(with, first), (without, second)] {
            try await router.set(Data(repeating: 7, count: 128), for: key)
        }
        let times = try await Comparison.rounds(41) {
            try await Nanoseconds.each(100_000) { for _ in 0..<100_000 { _ = try await with.get(first) } }
        } baseline: {
            try await Nanoseconds.each(100_000) { for _ in 0..<100_000 { _ = try await without.get(second) } }
        }
        Row(
            what: "typed `get` from the memory store with 100 registered migrations; without",
            ours: microseconds(times.ours), baseline: microseconds(times.baseline), ratio: decimal(times.ratio, 2),
            aim: "< + 0.1 us", isMet: times.difference < 100
        ).print()
    }

    private func mebibytes(_ bytes: Int) -> String { "\(decimal(Double(bytes) / 1_048_576, 1)) MiB" }
}

/// A migration that never has anything to do.
private struct NoMigration: StorageMigration {
    let destinationKey: StorageKey<Data>
    var number = 0

    var id: String { "none \(number)" }

    // Not inlined, as a migration of another module is not.
    @inline(never)
    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool { false }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult { MigrationResult(success: true) }
}

/// A number that a closure counts up.
private final class Counter: @unchecked Sendable {
    // Used by one call at a time.
    var value = 0
}

public import LocalDataAPI

/// The outcome of each requested migration, in the order in which they ran.
public struct MigrationReport: Sendable {
    /// One migration, or one key without a migration.
    public struct Entry: Sendable {
        /// The description of the destination.
        public let destination: StorageKeyDescriptor
        /// The migration, if there is one.
        public let migration: String?
        /// The outcome.
        public let outcome: MigrationOutcome
        /// How many values it brought or changed.
        public let migratedCount: Int
        /// Why it failed, if it did.
        public let error: MigrationError?

        init(
            destination: StorageKeyDescriptor, migration: String?, outcome: MigrationOutcome,
            migratedCount: Int = 0, error: MigrationError? = nil
        ) {
            self.destination = destination
            self.migration = migration
            self.outcome = outcome
            self.migratedCount = migratedCount
            self.error = error
        }
    }

    /// One entry per migration, and one per key without a migration.
    public let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// The entries that failed. The other migrations have run all the same.
    public var failures: [Entry] { entries.filter { $0.outcome == .failed } }
}

/// The progress of a run of migrations.
public struct MigrationProgress: Codable, Hashable, Sendable {
    /// See `StorageMigration.id`.
    public let migration: String
    /// How many values of this migration are done.
    public let done: Int
    /// How many values this migration has, as far as known yet.
    public let total: Int
    /// The index of this migration in the run, from 0.
    public let index: Int
    /// How many migrations the run has.
    public let count: Int

    init(migration: String, done: Int, total: Int, index: Int, count: Int) {
        self.migration = migration
        self.done = done
        self.total = total
        self.index = index
        self.count = count
    }

    /// The completed part of the run, from 0 to 1. Each migration counts alike, however many values it has.
    public var fraction: Double {
        guard count > 0 else { return 1 }
        let own = total > 0 ? Double(min(done, total)) / Double(total) : 0
        return (Double(index) + own) / Double(count)
    }
}

/// The result of resuming interrupted migrations.
public struct MigrationResumption: Codable, Hashable, Sendable {
    /// A migration that had work left.
    public struct Entry: Codable, Hashable, Sendable {
        /// See `StorageMigration.id`.
        public let migration: String
        /// The destination's address.
        public let destination: String
        /// Whether all of its work is now done.
        public let isDone: Bool
        /// The remaining work and its reason, in a sentence.
        public let problem: String?

        init(migration: String, destination: String, isDone: Bool, problem: String? = nil) {
            self.migration = migration
            self.destination = destination
            self.isDone = isDone
            self.problem = problem
        }
    }

    /// Interrupted batches that are now applied or discarded.
    public let batches: [String]
    /// Batches that are still waiting.
    public let waiting: [String]
    /// The migrations that had work left.
    public let entries: [Entry]
    /// Why ledgers cannot be read.
    public let failures: [String]

    init(batches: [String], waiting: [String], entries: [Entry], failures: [String]) {
        self.batches = batches
        self.waiting = waiting
        self.entries = entries
        self.failures = failures
    }

    /// Whether no work is left.
    public var isComplete: Bool { waiting.isEmpty && failures.isEmpty && entries.allSatisfy(\.isDone) }
}

/// Which of the known migrations are run or planned. Each comes after those that it depends on.
public enum MigrationSelection: Hashable, Sendable {
    /// All of them, and the moves of the keys of a catalog whose location was changed.
    case all
    /// The one with this id, and those that it depends on.
    case only(String)
    /// The migrations up to the one with this id, in the order of a run.
    case upTo(String)
}

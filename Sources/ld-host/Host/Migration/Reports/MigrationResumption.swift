internal import LocalDataAPI

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

/// What became of work of migrations that was interrupted.
public struct MigrationResumption: Codable, Hashable, Sendable {
    /// A migration that had something left to be done.
    public struct Entry: Codable, Hashable, Sendable {
        /// See `StorageMigration.id`.
        public let migration: String
        /// The address that its data came to.
        public let destination: String
        /// Whether all of it is done now.
        public let isDone: Bool
        /// What is not, and why, in a sentence.
        public let problem: String?

        init(migration: String, destination: String, isDone: Bool, problem: String? = nil) {
            self.migration = migration
            self.destination = destination
            self.isDone = isDone
            self.problem = problem
        }
    }

    /// Batches that were interrupted, and are in place now or cleared.
    public let batches: [String]
    /// Batches that still wait.
    public let waiting: [String]
    /// Migrations.
    public let entries: [Entry]
    /// What keeps ledgers from being read.
    public let failures: [String]

    init(batches: [String], waiting: [String], entries: [Entry], failures: [String]) {
        self.batches = batches
        self.waiting = waiting
        self.entries = entries
        self.failures = failures
    }

    /// Whether nothing is left to be done.
    public var isComplete: Bool { waiting.isEmpty && failures.isEmpty && entries.allSatisfy(\.isDone) }
}

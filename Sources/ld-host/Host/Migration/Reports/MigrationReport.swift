public import LocalDataAPI

/// What became of each migration that was asked for, in the order in which they were run.
public struct MigrationReport: Sendable {
    /// One migration, or one key without.
    public struct Entry: Sendable {
        /// The key that the data comes to.
        public let destination: StorageKeyDescriptor
        /// The migration, if there is one.
        public let migration: String?
        /// What became of it.
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

    /// One for each migration, and one for each key that has none.
    public let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// Those that failed. The others have run all the same.
    public var failures: [Entry] { entries.filter { $0.outcome == .failed } }
}

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

    package init(_ entries: [Entry]) { self.entries = entries }

    /// The entries that failed. The other migrations have run all the same.
    public var failures: [Entry] { entries.filter { $0.outcome == .failed } }
}

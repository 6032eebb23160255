/// What a sweep of migrations would do if it ran now. It says addresses and sizes, and no value.
public struct MigrationPlan: Codable, Hashable, Sendable {
    /// What becomes of a migration.
    public enum Decision: String, Codable, CaseIterable, Hashable, Sendable {
        /// It brings data to its destination, or removes it.
        case run
        /// It has brought its data before, and what was left of what it removes is removed.
        case cleanup
        /// There is no data to migrate, or it has been done.
        case nothingToDo
        /// The destination has a value, which stays: see ``MigrationConflictPolicy/keepDestination``.
        case destinationKept
        /// It is not for this device.
        case skipped
        /// It fails, and nothing changes.
        case refused
    }

    /// A value that is looked at or changes.
    public struct Value: Codable, Hashable, Sendable {
        /// `domain[:scope]/name`.
        public let address: String
        /// In bytes: of what is stored, as the store keeps it; of what is written, before it is sealed.
        public let size: Int

        init(address: String, size: Int) {
            self.address = address
            self.size = size
        }
    }

    /// One migration.
    public struct Entry: Codable, Hashable, Sendable {
        /// See `StorageMigration.id`.
        public let migration: String
        /// See `StorageMigration.revision`.
        public let revision: Int
        /// What the migration says of itself.
        public let summary: String
        /// The pack that it comes from; `nil` for the app's own.
        public let pack: String?
        /// The address that the data comes to.
        public let destination: String
        /// What becomes of it.
        public let decision: Decision
        /// The reason, in a sentence.
        public let why: String
        /// The code of the error that it would fail with.
        public let error: String?
        /// Stored values that it looks at.
        public let reads: [Value]
        /// Values as they would be written.
        public let writes: [Value]
        /// Stored values that it removes, last of all.
        public let removes: [Value]
        /// How many values a migration of a whole place moves; the lists do not name those.
        public let count: Int?

        init(
            migration: String, revision: Int, summary: String = "", pack: String? = nil, destination: String,
            decision: Decision, why: String, error: String? = nil, reads: [Value] = [], writes: [Value] = [],
            removes: [Value] = [], count: Int? = nil
        ) {
            self.migration = migration
            self.revision = revision
            self.summary = summary
            self.pack = pack
            self.destination = destination
            self.decision = decision
            self.why = why
            self.error = error
            self.reads = reads
            self.writes = writes
            self.removes = removes
            self.count = count
        }
    }

    /// One for each migration, in the order in which they run.
    public let entries: [Entry]
    /// What else is to be known, e.g. work that was interrupted and is completed first.
    public let notes: [String]

    init(entries: [Entry], notes: [String]) {
        self.entries = entries
        self.notes = notes
    }

    /// Those that would fail.
    public var refusals: [Entry] { entries.filter { $0.decision == .refused } }
    /// Whether anything would change.
    public var changesAnything: Bool { entries.contains { $0.decision == .run || $0.decision == .cleanup } }
}

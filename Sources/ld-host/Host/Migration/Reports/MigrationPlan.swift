/// The plan of a run of all migrations. It contains addresses and sizes, but no values.
public struct MigrationPlan: Codable, Hashable, Sendable {
    /// The decision on a migration.
    public enum Decision: String, Codable, CaseIterable, Hashable, Sendable {
        /// It brings data to its destination, or removes the destination.
        case run
        /// It has brought its data before; now it removes the remaining sources.
        case cleanup
        /// There is no data to migrate, or an earlier run migrated it.
        case nothingToDo
        /// The destination already has a value, which stays: see `MigrationConflictPolicy`.
        case destinationKept
        /// It is not for this device.
        case skipped
        /// It would fail, and nothing would change.
        case refused
    }

    /// A value that the migration reads or changes.
    public struct Value: Codable, Hashable, Sendable {
        /// `domain[:scope]/name`.
        public let address: String
        /// In bytes: of a stored value, as stored; of a value to be written, before it is sealed.
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
        /// The migration's own summary.
        public let summary: String
        /// The migration's pack; `nil` for the app's own.
        public let pack: String?
        /// The destination's address.
        public let destination: String
        /// The decision on it.
        public let decision: Decision
        /// The reason, in a sentence.
        public let why: String
        /// The code of the error that it would fail with, if any.
        public let error: String?
        /// Stored values that it reads.
        public let reads: [Value]
        /// Values that it would write.
        public let writes: [Value]
        /// Stored values that it removes at the end.
        public let removes: [Value]
        /// How many values a bulk migration moves; the lists do not name those.
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

    /// One entry per migration, in the order in which they run.
    public let entries: [Entry]
    /// Other facts, e.g. interrupted work that is completed first.
    public let notes: [String]

    init(entries: [Entry], notes: [String]) {
        self.entries = entries
        self.notes = notes
    }

    /// The entries that would fail.
    public var refusals: [Entry] { entries.filter { $0.decision == .refused } }
    /// Whether anything would change.
    public var changesAnything: Bool { entries.contains { $0.decision == .run || $0.decision == .cleanup } }
}

public import FoundationEssentials
public import LocalDataAPI

/// What the ledger says of a migration that has run.
public struct MigrationRecord: Hashable, Sendable {
    /// How far it is.
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// The data is at its destination, and what the migration removes is not yet removed.
        case published
        /// A large value is on its way, and may have come to its destination or not; what the migration removes may be
        /// there.
        case copying
        /// All is done.
        case clean
        /// The destination did not give back what was written, so nothing was removed.
        case unverified
        /// It was undone.
        case rolledBack
        /// It has not run, and does not bring what its sources had when the key was set or removed without it.
        case superseded
    }

    /// See `StorageMigration.id`.
    public let id: String
    /// See `StorageMigration.revision`.
    public let revision: Int
    /// How far it is.
    public let state: State
    /// The addresses that it removed.
    public let sources: [String]
    /// The addresses that it wrote.
    public let destinations: [String]
    /// When it was committed.
    public let date: Date
    /// How long it took, in seconds.
    public let duration: TimeInterval
    /// The version of the app that ran it, if it was known.
    public let appVersion: String?
    /// The pack that it came from; `nil` for one of the app's own.
    public let pack: MigrationPackIdentity?

    init(
        id: String, revision: Int, state: State, sources: [String], destinations: [String], date: Date,
        duration: TimeInterval, appVersion: String?, pack: MigrationPackIdentity? = nil
    ) {
        self.id = id
        self.revision = revision
        self.state = state
        self.sources = sources
        self.destinations = destinations
        self.date = date
        self.duration = duration
        self.appVersion = appVersion
        self.pack = pack
    }
}

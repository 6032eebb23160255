public import FoundationEssentials
public import LocalDataAPI

/// The ledger's record of a migration that has run.
public struct MigrationRecord: Hashable, Sendable {
    /// How far a migration is.
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// The data is at its destination; the sources are not yet removed.
        case published
        /// A large value is being copied. The destination may have it or not; the sources may still exist.
        case copying
        /// All is done.
        case clean
        /// The destination did not return what was written, so nothing was removed.
        case unverified
        /// It was rolled back.
        case rolledBack
        /// It has not run, and ignores what its sources held when the key was set or removed without it.
        case superseded
    }

    /// See `StorageMigration.id`.
    public let id: String
    /// See `StorageMigration.revision`.
    public let revision: Int
    /// How far the migration is.
    public let state: State
    /// The addresses that were removed.
    public let sources: [String]
    /// The addresses that were written.
    public let destinations: [String]
    /// The time of the commit.
    public let date: Date
    /// The duration in seconds.
    public let duration: TimeInterval
    /// The version of the app that ran it, if known.
    public let appVersion: String?
    /// The migration's pack; `nil` for the app's own.
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

public import FoundationEssentials

/// The status of a migration: what the router and the ledger know of it.
public struct MigrationStatus: Codable, Hashable, Sendable {
    /// How far a migration is.
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// It has not run: the ledger has no record of it, or only of single values of many that moved when they were
        /// asked for.
        case notRun
        /// The data is at its destination; the sources are not yet removed.
        case cleanupPending
        /// It moves many values or a large one and was interrupted; the next run resumes it.
        case interrupted
        /// All is done.
        case done
        /// The destination did not return what was written, so nothing was removed.
        case unverified
        /// Its rollback was interrupted: `ld-host migrate resume` or another rollback completes it, and a run goes
        /// forward from where it is.
        case rollingBack
        /// It was rolled back.
        case rolledBack
        /// It has not run, and ignores what its sources held when the key was set or removed without it.
        case superseded
        /// The ledger cannot be read.
        case unreadable
    }

    /// See `StorageMigration.id`.
    public let migration: String
    /// The migration's own summary.
    public let summary: String
    /// The migration's pack, now or when it ran; `nil` for the app's own.
    public let pack: String?
    /// The destination's address.
    public let destination: String
    /// The revision that can run; `nil` if the migration is not registered here, so that it can be neither run nor
    /// judged.
    public let revision: Int?
    /// The revision that has run.
    public let recordedRevision: Int?
    /// How far the migration is.
    public let state: State
    /// The time of the commit.
    public let committed: Date?
    /// Until when the replaced and removed values are kept, so that it can be rolled back; `nil` if they are not kept.
    public let keptUntil: Date?
    /// Addresses that it was to remove but left, because someone had changed them.
    public let left: [String]
    /// Addresses of values that it moved to a better protected location, but that may still be in plain in the files of
    /// their old store: they are kept for a rollback, or the store could not erase them.
    public let unwiped: [String]?
    /// Addresses of older data that it now ignores, because the key was set or removed without it.
    public let superseded: [String]?
    /// The decision of a run now; `nil` if that is not known here.
    public internal(set) var next: MigrationPlan.Decision?
    /// Why it cannot be run or judged, in a sentence.
    public let problem: String?

    init(
        migration: String, summary: String, pack: String?, destination: String, revision: Int?, recordedRevision: Int?,
        state: State, committed: Date?, keptUntil: Date?, left: [String], unwiped: [String]? = nil,
        superseded: [String]? = nil, problem: String?
    ) {
        self.migration = migration
        self.summary = summary
        self.pack = pack
        self.destination = destination
        self.revision = revision
        self.recordedRevision = recordedRevision
        self.state = state
        self.committed = committed
        self.keptUntil = keptUntil
        self.left = left
        self.unwiped = unwiped
        self.superseded = superseded
        self.problem = problem
    }

    /// Whether it needs attention.
    public var needsAttention: Bool {
        switch (state, next) {
        case (.cleanupPending, _), (.interrupted, _), (.rollingBack, _), (.unverified, _), (.unreadable, _): true
        // Someone rolled it back on purpose.
        case (.rolledBack, _): problem != nil
        case (_, .run), (_, .cleanup), (_, .refused): true
        case (.notRun, _), (.done, _), (.superseded, _): problem != nil
        }
    }
}

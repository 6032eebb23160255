public import FoundationEssentials

/// How a migration stands: what the router knows of it, and what the ledger says.
public struct MigrationStatus: Codable, Hashable, Sendable {
    /// How far it is.
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// The ledger has nothing of it.
        case notRun
        /// The data is at its destination, and what the migration removes is not yet removed.
        case cleanupPending
        /// It moves many values or a large one, and was stopped in the midst; a run goes on from there.
        case interrupted
        /// All is done.
        case done
        /// The destination did not give back what was written, so nothing was removed.
        case unverified
        /// It was undone.
        case rolledBack
        /// It has not run, and does not bring what its sources had when the key was set or removed without it.
        case superseded
        /// The ledger cannot be read.
        case unreadable
    }

    /// See `StorageMigration.id`.
    public let migration: String
    /// What the migration says of itself.
    public let summary: String
    /// The pack that it comes from, or came from when it ran; `nil` for the app's own.
    public let pack: String?
    /// The address that the data comes to.
    public let destination: String
    /// The revision that is there to run; `nil` if the migration is not known here, so that it can be neither run nor
    /// judged.
    public let revision: Int?
    /// The revision that ran.
    public let recordedRevision: Int?
    /// How far it is.
    public let state: State
    /// When it was committed.
    public let committed: Date?
    /// Until when what it replaced and removed is kept, so that it can be rolled back; `nil` if it is not kept.
    public let keptUntil: Date?
    /// Addresses that it was to remove and has not, because someone had changed them.
    public let left: [String]
    /// Addresses of values that it has moved to a better protected place, and that may be in the files of their former
    /// store in plain still: because they are kept to undo it, or because the store could not be cleared of them.
    public let unwiped: [String]?
    /// Addresses of older data that it does not bring any more, because the key was set or removed without it.
    public let superseded: [String]?
    /// What a run would do now; `nil` if that is not known here.
    public internal(set) var next: MigrationPlan.Decision?
    /// What keeps it from being run or judged, in a sentence.
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

    /// Whether something is to be done about it.
    public var needsAttention: Bool {
        switch (state, next) {
        case (.cleanupPending, _), (.interrupted, _), (.unverified, _), (.unreadable, _): true
        // What was undone is undone on purpose.
        case (.rolledBack, _): problem != nil
        case (_, .run), (_, .cleanup), (_, .refused): true
        case (.notRun, _), (.done, _), (.superseded, _): problem != nil
        }
    }
}

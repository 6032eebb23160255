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
        /// The ledger cannot be read.
        case unreadable
    }

    /// See ``StorageMigration/id``.
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
    /// What keeps it from being run or judged, in a sentence.
    public let problem: String?

    package init(
        migration: String, summary: String, pack: String?, destination: String, revision: Int?, recordedRevision: Int?,
        state: State, committed: Date?, keptUntil: Date?, left: [String], unwiped: [String]? = nil, problem: String?
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
        self.problem = problem
    }

    /// Whether something is to be done about it.
    public var needsAttention: Bool {
        switch state {
        case .cleanupPending, .interrupted, .unverified, .unreadable: true
        case .notRun, .done, .rolledBack: problem != nil
        }
    }
}

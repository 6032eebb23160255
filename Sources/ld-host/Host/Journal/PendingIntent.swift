package import FoundationEssentials

/// An unfinished intent, as others than its owner see it.
package struct PendingIntent: Sendable {
    /// The state of the work.
    package enum State: String, Sendable {
        /// Its owner lives.
        case inProgress = "in progress"
        /// Its owner gave up or died; another process can take it over.
        case interrupted
    }

    package let id: IntentID
    package let kind: String
    /// What the work is about, for people.
    package let subject: String
    /// The data for resuming the work.
    package let payload: Data
    /// The id of the process that last wrote it, for people: the process may be dead, or in another container.
    package let owner: Int32
    package let state: State

    /// When it was begun, in nanoseconds since 1970 UTC.
    package var created: Int64 { id.created }

    init(_ record: IntentRecord, _ state: State) {
        id = record.id
        kind = record.kind
        subject = record.subject
        payload = record.payload
        owner = record.owner
        self.state = state
    }
}

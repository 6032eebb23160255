package import FoundationEssentials

/// An intent that is not finished, as someone who does not own it finds it.
package struct PendingIntent: Sendable {
    /// How the work goes.
    package enum State: String, Sendable {
        /// Its owner lives.
        case inProgress = "in progress"
        /// Its owner gave up or died; someone can take it over.
        case interrupted
    }

    package let id: IntentID
    package let kind: String
    /// What it is about, for people.
    package let subject: String
    /// What the work needs to be gone on with.
    package let payload: Data
    /// The number of the process that last wrote it, for people: it may be dead, or of another container.
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

/// The contents of a journal at one moment.
package struct JournalSurvey: Sendable {
    /// The unfinished intents, in the order of their creation.
    package internal(set) var pending: [PendingIntent] = []
    /// The unreadable files, ordered by path.
    package internal(set) var unreadable: [UnreadableIntent] = []
}

/// What a journal holds at a moment.
package struct JournalSurvey: Sendable {
    /// The intents that are not finished, in the order of their making.
    package internal(set) var pending: [PendingIntent] = []
    /// The files that could not be read, by their paths.
    package internal(set) var unreadable: [UnreadableIntent] = []
}

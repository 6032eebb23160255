package import LocalDataAPI

/// What recovery found in a journal, and the results.
package struct JournalReport: Sendable {
    /// An intent whose work could not be resumed. It stays.
    package struct Failure: Sendable {
        package let intent: PendingIntent
        package let error: StorageError
    }

    /// The intents that were completed or undone.
    package internal(set) var recovered: [PendingIntent] = []
    /// The intents whose handlers failed.
    package internal(set) var failures: [Failure] = []
    /// The interrupted intents that wait until someone asks for them.
    package internal(set) var waiting: [PendingIntent] = []
    /// The interrupted intents of unknown kinds.
    package internal(set) var unknown: [PendingIntent] = []
    /// The intents that other processes are working on.
    package internal(set) var inProgress: [PendingIntent] = []
    /// The files that could not be read.
    package internal(set) var unreadable: [UnreadableIntent] = []

    /// Whether the journal was empty.
    package var isEmpty: Bool {
        recovered.isEmpty && failures.isEmpty && waiting.isEmpty && unknown.isEmpty && inProgress.isEmpty
            && unreadable.isEmpty
    }
}

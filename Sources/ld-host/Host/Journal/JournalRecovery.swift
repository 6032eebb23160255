/// What is to be done with interrupted intents, by their kind.
package struct JournalRecovery: Sendable {
    /// Completes the work of an intent or undoes it. It may be called for work that is done in part, not at all or
    /// wholly; when it returns, the intent is finished. An error that is no `StorageError` is reported as `unknown`.
    package typealias Handler = @Sendable (_ intent: Intent) throws -> Void

    /// When and how the work of a kind is gone on with.
    package enum Handling: Sendable {
        /// At once, on the thread that recovers.
        case atOpen(Handler)
        /// When a person or the app asks for it: meanwhile everything can be used.
        case onDemand
    }

    let handlings: [String: Handling]

    /// Registers the kinds that the program knows.
    package init(_ handlings: [String: Handling]) { self.handlings = handlings }
}

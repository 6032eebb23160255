/// How to handle interrupted intents, by kind.
package struct JournalRecovery: Sendable {
    /// Completes or undoes the work of an intent. The work may be partly done, not begun or complete; when the handler
    /// returns, the intent is finished. An error other than a `StorageError` is reported as `unknown`.
    package typealias Handler = @Sendable (_ intent: Intent) throws -> Void

    /// When and how work of a kind is resumed.
    package enum Handling: Sendable {
        /// Immediately, on the thread that recovers.
        case atOpen(Handler)
        /// When a person or the app asks for it; everything stays usable meanwhile.
        case onDemand
    }

    let handlings: [String: Handling]

    /// Registers the kinds that this program knows.
    package init(_ handlings: [String: Handling]) { self.handlings = handlings }
}

internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// A call that waits for messages of the server: for answers, or for what a consumer delivers.
final class LinkCall: @unchecked Sendable {
    private static let last = Atomic<UInt64>(0)

    /// A number that no other call of the process has.
    let number = LinkCall.last.add(1, ordering: .relaxed).newValue
    /// Whether the server delivers to the exact subject of the call, as a consumer that pushes requires.
    let isExact: Bool
    private let monitor = Monitor()
    // Used under the monitor only.
    private var messages: [Message] = []
    private var next = 0
    private var failure: StorageError?
    private var asked: Set<String> = []

    init(isExact: Bool = false) { self.isExact = isExact }

    /// Adds a message, on any thread.
    func put(_ message: Message) {
        monitor.with {
            messages.append(message)
            monitor.wakeAll()
        }
    }

    /// Ends the call; the first failure counts.
    func fail(_ error: StorageError) {
        monitor.with {
            failure = failure ?? error
            monitor.wakeAll()
        }
    }

    /// Takes the next message in the order of arrival; `nil` once the deadline has passed.
    ///
    /// - Throws: Why no further message will come: what ``fail(_:)`` was called with.
    func take(until deadline: Deadline) throws(StorageError) -> Message? {
        try monitor.with { () throws(StorageError) -> Message? in
            while next == messages.count {
                if let failure { throw failure }
                guard monitor.wait(until: deadline) else { break }
            }
            guard next < messages.count else { return nil }
            defer { next += 1 }
            if next == messages.count - 1 {
                let message = messages[next]
                (messages, next) = ([], -1)
                return message
            }
            return messages[next]
        }
    }

    /// - Throws: What ``fail(_:)`` was called with.
    func check() throws(StorageError) {
        if let failure = monitor.with({ failure }) { throw failure }
    }

    /// Remembers a subject that it sends to or receives on.
    func note(_ subject: String) { _ = monitor.with { asked.insert(subject) } }

    /// Ends the call if the server's refusal names a subject that it uses.
    func refuse(_ text: String, _ host: String) {
        guard monitor.with({ asked.contains { text.contains("\"\($0)\"") } }) else { return }
        fail(
            StorageError(
                .permissionDenied, "the server at \(host) refused a request: \(text)",
                hint: "grant the user these rights in the server's configuration"))
    }
}

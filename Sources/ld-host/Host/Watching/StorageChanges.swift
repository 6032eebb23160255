internal import Synchronization

/// What changes in a store, from when it was asked for until it is let go: an asynchronous sequence, for one reader.
///
/// Changes that come while the reader is busy are told together. The sequence ends when its task is cancelled.
public struct StorageChanges<Element: Sendable>: AsyncSequence, Sendable {
    /// What reading throws.
    public typealias Failure = any Error

    let signals: AsyncStream<Void>
    /// What is new since it was last called; `nil` if nothing is after all.
    let take: @Sendable () async throws -> Element?

    /// Begins to read; for one reader.
    public func makeAsyncIterator() -> Iterator { Iterator(signals: signals.makeAsyncIterator(), take: take) }

    /// The reader.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: AsyncStream<Void>.Iterator
        let take: @Sendable () async throws -> Element?

        /// Waits for the next change.
        ///
        /// - Throws: What keeps the value or the list from being read; the sequence goes on.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            while await signals.next(isolation: actor) != nil {
                if let element = try await take() { return element }
            }
            return nil
        }
    }
}

/// Names that were set or removed.
public struct ChangedNames: Hashable, Sendable {
    /// Each once, ascending by their UTF-8 bytes.
    public let names: [String]
    /// Whether others may have changed, too: the store could not tell which.
    public let mayBeMore: Bool
}

/// Collects what a store tells, until someone takes it.
final class ChangeFeed: Sendable {
    private struct Pending {
        var names: Set<[UInt8]> = []
        var anything = false
    }

    private let pending = Mutex(Pending())
    private let signal: AsyncStream<Void>.Continuation

    init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    /// Takes a change in; `nil` for anything. Never waits.
    func add(_ name: String?) {
        pending.withLock { pending in
            // By their bytes: two spellings of an accented letter are two names.
            if let name { pending.names.insert(Array(name.utf8)) } else { pending.anything = true }
        }
        signal.yield()
    }

    /// What came since the last time, if anything did.
    func take() -> ChangedNames? {
        let pending = pending.withLock { pending in
            defer { pending = Pending() }
            return pending
        }
        guard !pending.names.isEmpty || pending.anything else { return nil }
        let names = pending.names.sorted { $0.lexicographicallyPrecedes($1) }
        return ChangedNames(names: names.map { String(decoding: $0, as: UTF8.self) }, mayBeMore: pending.anything)
    }
}

internal import Synchronization

/// The changes in a store from the moment of the request: an asynchronous sequence for one reader.
///
/// Changes that arrive while the reader is busy are reported together. The sequence ends when its task is cancelled.
public struct StorageChanges<Element: Sendable>: AsyncSequence, Sendable {
    /// The errors of reading.
    public typealias Failure = any Error

    let signals: AsyncStream<Void>
    /// The changes since its last call; `nil` if there are none after all.
    let take: @Sendable () async throws -> Element?

    package init(signals: AsyncStream<Void>, take: @escaping @Sendable () async throws -> Element?) {
        (self.signals, self.take) = (signals, take)
    }

    /// Begins to read; call it once.
    public func makeAsyncIterator() -> Iterator { Iterator(signals: signals.makeAsyncIterator(), take: take) }

    /// The iterator.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: AsyncStream<Void>.Iterator
        let take: @Sendable () async throws -> Element?

        /// Waits for the next change.
        ///
        /// - Throws: Why the value or the list cannot be read; the sequence continues.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            while await signals.next(isolation: actor) != nil {
                if let element = try await take() { return element }
            }
            return nil
        }
    }
}

/// Collects a store's reports until the reader takes them.
package final class ChangeFeed: Sendable {
    private struct Pending {
        var names: Set<[UInt8]> = []
        var anything = false
    }

    private let pending = Mutex(Pending())
    private let signal: AsyncStream<Void>.Continuation

    package init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    /// Adds a change; `nil` if anything may have changed. Never waits.
    func add(_ name: String?) {
        pending.withLock { pending in
            // By their bytes: two encodings of an accented letter are two names.
            if let name { pending.names.insert(Array(name.utf8)) } else { pending.anything = true }
        }
        signal.yield()
    }

    /// The changes since the last call, if there are any.
    package func take() -> ChangedNames? {
        let pending = pending.withLock { pending in
            defer { pending = Pending() }
            return pending
        }
        guard !pending.names.isEmpty || pending.anything else { return nil }
        let names = pending.names.sorted { $0.lexicographicallyPrecedes($1) }
        return ChangedNames(names: names.map { String(decoding: $0, as: UTF8.self) }, mayBeMore: pending.anything)
    }
}

package import LocalDataAPI
internal import Synchronization

/// A watch of one place that goes over to another store with it.
package final class FollowedWatch: Sendable {
    private struct State {
        var watched: (open: OpenStore, place: StorageNamespace, end: @Sendable () -> Void)?
        var isEnded = false
    }

    package let feed: ChangeFeed
    private let prefix: String
    private let exactly: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - signal: What tells a reader to look.
    ///   - prefix: Only names that start with it.
    ///   - exactly: Whether the prefix is one whole name.
    package init(_ signal: AsyncStream<Void>.Continuation, prefix: String, exactly: Bool) {
        (feed, self.prefix, self.exactly) = (ChangeFeed(signal), prefix, exactly)
    }

    /// Begins the watch, or goes over to another store.
    ///
    /// - Returns: Whether it has gone over: then anything may have changed.
    package func watch(_ place: StorageNamespace, in open: OpenStore) async throws(StorageError) -> Bool {
        let isThere = state.withLock { $0.watched.map { $0.open === open && $0.place == place } ?? false }
        guard !isThere else { return false }
        let end = try await open.watch(place, prefix: prefix, exactly: exactly, feed)
        let (former, isLate) = state.withLock { state in
            let former = state.watched
            if !state.isEnded { state.watched = (open, place, end) }
            return (former, state.isEnded)
        }
        if isLate { end() } else { former?.end() }
        return former != nil
    }

    package func end() {
        let watched = state.withLock { state in
            state.isEnded = true
            defer { state.watched = nil }
            return state.watched
        }
        watched?.end()
    }
}

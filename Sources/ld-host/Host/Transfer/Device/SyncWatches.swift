internal import HostStores
internal import LocalDataAPI

/// Watches the places of all keys that take part in sync.
package final class SyncWatches: Sendable {
    private struct Watch: Sendable {
        let place: StorageNamespace
        let feed: ChangeFeed
        let end: @Sendable () -> Void
    }

    private let watches: [Watch]

    package init(_ keys: [SyncedKey], _ signal: AsyncStream<Void>.Continuation) async throws {
        var places: [StorageNamespace: OpenStore] = [:]
        for key in keys { places[key.resolved.address.place] = key.resolved.open }
        var watches: [Watch] = []
        do {
            for (place, open) in places {
                let feed = ChangeFeed(signal)
                let end = try await open.watch(place, prefix: "", exactly: false, feed)
                watches.append(Watch(place: place, feed: feed, end: end))
            }
        } catch {
            for watch in watches { watch.end() }
            throw error
        }
        self.watches = watches
    }

    /// The addresses that may have changed since the last call; `nil` if any may.
    package func take() -> [String]? {
        var addresses: [String] = []
        for watch in watches {
            guard let changed = watch.feed.take() else { continue }
            if changed.mayBeMore { return nil }
            addresses += changed.names.map { "\(StorageAddress(watch.place, name: $0))" }
        }
        return addresses
    }

    package func end() { for watch in watches { watch.end() } }
}

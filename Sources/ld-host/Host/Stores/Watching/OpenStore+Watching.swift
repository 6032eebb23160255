internal import ByteCoding
internal import Glibc
internal import HostGround
internal import HostPlugins
package import LocalDataAPI

extension OpenStore {
    /// Begins to watch a namespace.
    ///
    /// - Returns: A function that ends the watch.
    package func watch(
        _ place: StorageNamespace, prefix: String, exactly: Bool, _ feed: ChangeFeed
    ) async throws(StorageError) -> @Sendable () -> Void {
        guard store.abilities.watch != nil else {
            let poll = StorePoll(open: self, place: place, prefix: prefix, exactly: exactly)
            let first = try await poll.look()
            let polling = Task { await poll.tell(feed, after: first) }
            return { polling.cancel() }
        }
        let watch = try await wait("watching '\(place)'") { () throws(StorageError) in
            try self.store.watch(place, prefix: prefix) { feed.add($0) }
        }
        return { IOExecutor.shared.submit { self.store.unwatch(watch) } }
    }

    /// A hash of the stored bytes; `nil` if there are none.
    package func storedHash(of resolved: ResolvedKey) async throws(StorageError) -> UInt64? {
        try await read("reading '\(resolved.address)'") { (store) throws(StorageError) in
            try store.get(resolved.handle).map { StableHash.of($0) }
        }
    }
}

internal import LocalDataPluginAPI
internal import Synchronization

/// The watches of a store. While there are none, a change only reads one number.
final class WatchList: Sendable {
    /// Identifies a watch.
    struct Watch: Hashable {
        let number: Int
    }

    private struct Watcher {
        let place: StorageNamespace
        let prefix: String
        let changed: @Sendable (String?) -> Void
    }

    private struct State {
        var next = 0
        var watchers: [Watch: Watcher] = [:]
    }

    /// Locked while watches are notified, so that none is called after it has ended.
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    func begin(
        _ place: StorageNamespace, prefix: String, _ changed: @escaping @Sendable (String?) -> Void
    ) -> Watch {
        state.withLock { state in
            state.next += 1
            let watch = Watch(number: state.next)
            state.watchers[watch] = Watcher(place: place, prefix: prefix, changed: changed)
            count.store(state.watchers.count, ordering: .sequentiallyConsistent)
            return watch
        }
    }

    func end(_ watch: Watch) {
        state.withLock { state in
            state.watchers[watch] = nil
            count.store(state.watchers.count, ordering: .sequentiallyConsistent)
        }
    }

    /// Notifies the watches of a name, on the calling thread.
    func tell(of address: StorageAddress) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        state.withLock { state in
            for watcher in state.watchers.values
            where watcher.place == address.place && address.name.utf8.starts(with: watcher.prefix.utf8) {
                watcher.changed(address.name)
            }
        }
    }
}

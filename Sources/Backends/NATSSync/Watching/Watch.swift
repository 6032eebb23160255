internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// Notifies the subscribers of new records and of reachability, by a thread that runs while there are any.
final class Watch: Sendable {
    private struct State {
        var subscribers: [Subscriber] = []
        var thread: StreamWatchThread?
    }

    private let links: Links
    private let names: BucketNames
    private let state = Mutex(State())
    /// Whoever starts the thread has it, so that others do not return before it watches.
    private let starting = Mutex(())

    init(_ links: Links, _ names: BucketNames) { (self.links, self.names) = (links, names) }

    /// Adds a subscriber, who gets all notices from now on.
    ///
    /// - Throws: What another attempt to watch would not change, e.g. `permissionDenied`.
    func add(_ subscriber: Subscriber) throws(StorageError) {
        try starting.withLock { _ throws(StorageError) in
            let thread = state.withLock { state -> StreamWatchThread? in
                state.subscribers.append(subscriber)
                return state.thread
            }
            if let thread {
                if !thread.isReachable { subscriber.tell(.unreachable) }
                return
            }
            do throws(StorageError) {
                let thread = StreamWatchThread(links, names) { [self] in tell($0) }
                try thread.start()
                state.withLock { $0.thread = thread }
            } catch {
                state.withLock { $0.subscribers.removeAll { $0 === subscriber } }
                throw error
            }
        }
    }

    /// Ends a subscription; when this returns, no notice is running or will follow.
    func remove(_ subscriber: Subscriber) {
        let thread = state.withLock { state -> StreamWatchThread? in
            state.subscribers.removeAll { $0 === subscriber }
            guard state.subscribers.isEmpty else { return nil }
            defer { state.thread = nil }
            return state.thread
        }
        thread?.end()
        subscriber.end()
    }

    private func tell(_ notice: SyncNotice) {
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.tell(notice) }
    }
}

internal import LocalDataPluginAPI
internal import Synchronization

/// The watches of a store. This store's changes are reported at once, with their names. Those of others are reported
/// as "anything may have changed": as soon as the server sends a notification, or within a second behind a pooler.
///
/// Each change takes a number from the sequence `change` before it commits, and the notification only says that it is
/// time to look at the sequence. So nothing is missed: a number that is not of this store means a change of another
/// one. That may commit later than its number shows, so the transactions that run at that time are remembered, and the
/// end of each is reported, too. After a lost connection, everything may have changed.
final class Listener: Sendable {
    private struct State {
        var watches: [PostgreSQLWatch] = []
        var thread: ListenerThread?
        /// The numbers of this store's changes that the thread has not yet compared.
        var own: Set<Int64> = []
    }

    private let pool: Pool
    private let state = Mutex(State())
    private let isWatched = Atomic<Bool>(false)
    /// Lets one caller at a time start the thread.
    private let starting = Mutex(())

    init(_ pool: Pool) { self.pool = pool }

    /// Reports this store's changes.
    ///
    /// - Parameter numbers: Their numbers in the sequence, as far as they are known.
    func tell(_ writes: [Write], _ numbers: [Int64]) {
        guard isWatched.load(ordering: .acquiring) else { return }
        let watches = state.withLock { state in
            state.own.formUnion(numbers)
            return state.watches
        }
        for write in writes {
            if case .keep = write.action { continue }
            for watch in watches { watch.tell(write.place, write.name) }
        }
    }

    /// Reports to all watches that anything may have changed.
    func tellAll() { for watch in state.withLock({ $0.watches }) { watch.tellAll() } }

    /// How many of the numbers in a range belong to this store. Numbers up to its end are forgotten.
    func takeOwn(_ range: ClosedRange<Int64>) -> Int {
        state.withLock { state in
            let count = state.own.count { range.contains($0) }
            state.own = state.own.filter { $0 > range.upperBound }
            return count
        }
    }

    /// Adds a watch, which reports all changes from now on.
    ///
    /// - Throws: `storeUnavailable` if no server can be reached.
    func add(_ watch: PostgreSQLWatch) throws {
        state.withLock { $0.watches.append(watch) }
        isWatched.store(true, ordering: .releasing)
        do {
            try starting.withLock { _ in
                if state.withLock({ $0.thread != nil }) { return }
                let thread = ListenerThread(pool, self)
                try thread.start()
                state.withLock { $0.thread = thread }
            }
        } catch {
            remove(watch)
            throw error
        }
    }

    /// Removes a watch, and ends the thread with the last one.
    func remove(_ watch: PostgreSQLWatch) {
        let thread: ListenerThread? = state.withLock { state in
            state.watches.removeAll { $0 === watch }
            guard state.watches.isEmpty else { return nil }
            isWatched.store(false, ordering: .releasing)
            state.own = []
            return state.thread.take()
        }
        thread?.stop()
    }
}

extension PostgreSQLStore: WatchableBackend {
    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> PostgreSQLWatch {
        let watch = PostgreSQLWatch(place, prefix: prefix, changed)
        try listener.add(watch)
        return watch
    }

    func unwatch(_ watch: PostgreSQLWatch) {
        listener.remove(watch)
        watch.end()
    }
}

import Glibc
import LocalDataPluginAPI
import Synchronization

/// The watches of a database. While there are any, a thread checks once a second whether another process has changed
/// it, and then compares the values' versions with those of the last check.
final class Changes: Sendable {
    private struct State {
        var watches: [DatabaseWatch] = []
        var poll: Poll?
    }

    private let state = Mutex(State())
    private let isWatched = Atomic<Bool>(false)

    /// Reports a value that this process has set or removed.
    func tell(_ key: some ValueName) {
        guard isWatched.load(ordering: .acquiring) else { return }
        for watch in state.withLock({ $0.watches }) where watch.place === key.place { watch.tellOwn(key.name) }
    }

    /// Reports several values.
    func tell(_ keys: some Sequence<SQLiteKey>) {
        guard isWatched.load(ordering: .acquiring) else { return }
        for key in keys { tell(key) }
    }

    /// Reports many values, which `body` passes to its argument; called only if there are watches.
    func tellMany(_ body: (_ tell: (LentName) -> Void) throws -> Void) rethrows {
        guard isWatched.load(ordering: .acquiring) else { return }
        try body { tell($0) }
    }

    /// Adds a watch, which reports all changes from now on.
    ///
    /// - Throws: `storeUnavailable` if no thread can be created, and what the database reports.
    func add(_ watch: DatabaseWatch, of database: Database) throws {
        state.withLock { $0.watches.append(watch) }
        isWatched.store(true, ordering: .releasing)
        do {
            // In this order: what another process changes in between is seen by the next check.
            let first = try database.foreignVersion()
            watch.look()
            try state.withLock { state in
                if state.poll != nil { return }
                let poll = Poll(database, since: first)
                try poll.start()
                state.poll = poll
            }
        } catch {
            remove(watch)
            throw error
        }
    }

    /// Removes a watch.
    func remove(_ watch: DatabaseWatch) {
        let poll: Poll? = state.withLock { state in
            state.watches.removeAll { $0 === watch }
            guard state.watches.isEmpty else { return nil }
            isWatched.store(false, ordering: .releasing)
            return state.poll.take()
        }
        poll?.stop()
    }

    /// Reports what differs from what each watch has seen last.
    func tellDifferences() {
        guard isWatched.load(ordering: .acquiring) else { return }
        for watch in state.withLock({ $0.watches }) { watch.tellDifferences() }
    }
}

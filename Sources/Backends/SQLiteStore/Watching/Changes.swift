import Synchronization

/// Who is to be told of the changes of a database. While there is anyone, a thread asks once a second whether another
/// process has changed it.
final class Changes: Sendable {
    private struct State {
        var watches: [ChangeWatch] = []
        var poll: Poll?
    }

    private let state = Mutex(State())
    private let isWatched = Atomic<Bool>(false)

    /// Tells of a value that was set or removed by this process.
    func tell(_ key: some ValueName) {
        guard isWatched.load(ordering: .acquiring) else { return }
        for watch in state.withLock({ $0.watches }) where watch.place === key.place { watch.tell(key.name) }
    }

    /// Tells of several.
    func tell(_ keys: some Sequence<SQLiteKey>) {
        guard isWatched.load(ordering: .acquiring) else { return }
        for key in keys { tell(key) }
    }

    /// Tells of many, which are handed to `body`'s argument if there is anyone to be told.
    func tellMany(_ body: (_ tell: (LentName) -> Void) throws -> Void) rethrows {
        guard isWatched.load(ordering: .acquiring) else { return }
        try body { tell($0) }
    }

    /// Adds a watch, which is told of whatever happens from now on.
    ///
    /// - Throws: `storeUnavailable` if there is no thread to ask with, and what the database reports.
    func add(_ watch: ChangeWatch, of database: Database) throws {
        state.withLock { $0.watches.append(watch) }
        isWatched.store(true, ordering: .releasing)
        do {
            let first = try database.foreignVersion()
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

    /// Takes a watch away.
    func remove(_ watch: ChangeWatch) {
        let poll: Poll? = state.withLock { state in
            state.watches.removeAll { $0 === watch }
            guard state.watches.isEmpty else { return nil }
            isWatched.store(false, ordering: .releasing)
            return state.poll.take()
        }
        poll?.stop()
    }

    /// Tells everyone that anything may have changed.
    func tellAll() {
        for watch in state.withLock({ $0.watches }) { watch.tell(nil) }
    }
}

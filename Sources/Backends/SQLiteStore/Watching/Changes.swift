import CLinux
import Glibc
import LocalDataAPI
import Synchronization

/// The watches of a database. While there are any, a thread checks once a second whether another process has changed
/// it.
final class Changes: Sendable {
    private struct State {
        var watches: [ChangeWatch] = []
        var poll: Poll?
    }

    private let state = Mutex(State())
    private let isWatched = Atomic<Bool>(false)

    /// Reports a value that this process has set or removed.
    func tell(_ key: some ValueName) {
        guard isWatched.load(ordering: .acquiring) else { return }
        for watch in state.withLock({ $0.watches }) where watch.place === key.place { watch.tell(key.name) }
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

    /// Removes a watch.
    func remove(_ watch: ChangeWatch) {
        let poll: Poll? = state.withLock { state in
            state.watches.removeAll { $0 === watch }
            guard state.watches.isEmpty else { return nil }
            isWatched.store(false, ordering: .releasing)
            return state.poll.take()
        }
        poll?.stop()
    }

    /// Reports to all watches that anything may have changed.
    func tellAll() {
        for watch in state.withLock({ $0.watches }) { watch.tell(nil) }
    }
}

/// A watch on a namespace.
package final class ChangeWatch: Sendable {
    let place: Place
    private let prefix: [UInt8]
    private let changed: Mutex<(@Sendable (String?) -> Void)?>

    init(place: Place, prefix: String, _ changed: @escaping @Sendable (String?) -> Void) {
        self.place = place
        self.prefix = Array(prefix.utf8)
        self.changed = Mutex(changed)
    }

    /// Reports a name, or with `nil` that anything may have changed.
    func tell(_ name: UnsafeRawBufferPointer?) {
        guard let name else { return changed.withLock { $0?(nil) } }
        guard name.starts(with: prefix) else { return }
        changed.withLock { $0?(String(decoding: name, as: UTF8.self)) }
    }

    /// Ends the watch; when this returns, no report is running or will follow.
    func end() { changed.withLock { $0 = nil } }
}

/// A thread that checks once a second whether another process has changed a database.
final class Poll: Sendable {
    private let database: Database
    private let version: Mutex<Int64?>
    /// Posted once, to end the thread.
    nonisolated(unsafe) private let end = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// - Parameter version: The database's version when the first watch began.
    init(_ database: Database, since version: Int64?) {
        self.database = database
        self.version = Mutex(version)
        sem_init(end, 0, 0)
    }

    deinit {
        sem_destroy(end)
        end.deallocate()
    }

    /// Starts the thread, which keeps this object until it ends.
    func start() throws {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Poll>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument)
        guard code == 0 else {
            Unmanaged<Poll>.fromOpaque(argument).release()
            throw StorageError.system(code, "start a thread that watches '\(database.path)'")
        }
        pthread_detach(thread)
    }

    /// Asks the thread to end; it does so between two checks.
    func stop() { sem_post(end) }

    private func run() {
        while !isEnded() {
            // A failed check is repeated; readers and writers learn of the cause.
            guard let now = try? database.foreignVersion() else { continue }
            let isNew = version.withLock { version in
                defer { version = now }
                return version != now
            }
            if isNew { database.changes.tellAll() }
        }
    }

    /// Waits for a second, or until the thread must end.
    private func isEnded() -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += 1
        while ld_linux_sem_wait_until(end, &deadline) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }
}

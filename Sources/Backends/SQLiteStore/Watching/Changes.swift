import CLinux
import Glibc
import LocalDataAPI
import Synchronization

/// The watches of a database. While there are any, a thread checks once a second whether another process has changed
/// it, and then compares the values' versions with those of the last check.
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
    func add(_ watch: ChangeWatch, of database: Database) throws {
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
    func remove(_ watch: ChangeWatch) {
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

/// A watch on a namespace.
package final class ChangeWatch: Sendable {
    let place: Place
    private let prefix: [UInt8]
    private let changed: Mutex<(@Sendable (String?) -> Void)?>
    /// The versions at the last check; `nil` if there were too many, or they could not be read.
    private let seen = Mutex<[[UInt8]: Int64]?>(nil)
    /// Of how many values the versions are kept: some 10 MiB of memory.
    private static let mostSeen = 65_536

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

    /// Reports what this process has changed, which is then no difference for a later check.
    func tellOwn(_ name: UnsafeRawBufferPointer) {
        guard name.starts(with: prefix) else { return }
        seen.withLock { seen in
            guard seen != nil else { return }
            // It may be another process's later version: the reader gets that one.
            do { seen?[Array(name)] = try read { try $0.found($1, name) }?.version } catch { seen = nil }
        }
        tell(name)
    }

    /// Sees the versions as they are now.
    func look() { seen.withLock { $0 = versions() } }

    /// Reports each name whose version is not the one seen last, or with `nil` that anything may have changed.
    func tellDifferences() {
        let (before, now) = seen.withLock { seen in
            let before = seen
            seen = versions()
            return (before, seen)
        }
        guard let before, let now else { return tell(nil) }
        for (name, version) in now where before[name] != version { name.withUnsafeBytes { tell($0) } }
        for name in before.keys where now[name] == nil { name.withUnsafeBytes { tell($0) } }
    }

    private func versions() -> [[UInt8]: Int64]? {
        let range = NameRange(prefix: String(decoding: prefix, as: UTF8.self), after: nil)
        do {
            let versions = try read { try $0.versions($1, in: range, limit: Self.mostSeen + 1) } ?? [:]
            return versions.count > Self.mostSeen ? nil : versions
        } catch { return nil }
    }

    /// What a query returns; `nil` if there is no database, or no value in the namespace yet.
    private func read<Result>(_ query: (Connection, Int64) throws -> Result?) throws -> Result? {
        try place.database.read { connection in
            try place.number(connection).flatMap { try query(connection, $0) }
        } ?? nil
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
            if isNew { database.changes.tellDifferences() }
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

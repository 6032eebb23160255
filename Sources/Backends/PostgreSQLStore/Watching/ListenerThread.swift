internal import CPostgreSQL
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// A thread that observes the changes of others, and connects again when it must.
final class ListenerThread: @unchecked Sendable {
    private let pool: Pool
    private let listener: Listener
    /// Readable once the thread must end.
    private let end = ld_postgresql_event()
    // Set before the thread starts, and then used only by it.
    private var observation: ChangeObserver?

    init(_ pool: Pool, _ listener: Listener) { (self.pool, self.listener) = (pool, listener) }

    deinit { close(end) }

    /// Connects on the caller's thread, so that all changes from now on are observed, and starts the thread, which
    /// keeps this object until it ends.
    func start() throws {
        guard end >= 0 else {
            throw StorageError(
                .storeUnavailable, "no event can be created that ends the thread that watches",
                hint: "close files, or raise the limit of open files: ulimit -n")
        }
        observation = try pool.converting("watching") { try ChangeObserver(pool, listener) }
        let code = DetachedThread.start { self.run() }
        guard code == 0 else {
            throw StorageError(.storeUnavailable, "no thread that watches can be created: error \(code)")
        }
    }

    /// Asks the thread to end.
    func stop() {
        var one: UInt64 = 1
        _ = write(end, &one, MemoryLayout.size(ofValue: one))
    }

    private func run() {
        while !isEnded(after: 0) {
            guard let observation else {
                connect()
                continue
            }
            do {
                wait(on: PQsocket(observation.link.connection))
                // Further notifications that arrive now need no check of their own.
                if try observation.takeNotifications(), isEnded(after: 10) { return }
                try observation.check()
                _ = try observation.takeNotifications()
            } catch { self.observation = nil }
        }
    }

    private func connect() {
        guard let new = try? ChangeObserver(pool, listener) else {
            _ = isEnded(after: 1000)
            return
        }
        observation = new
        listener.tellAll()
    }

    /// Waits for a second, for a notification, or for the end.
    private func wait(on socket: Int32) {
        var entries = [
            pollfd(fd: end, events: Int16(POLLIN), revents: 0), pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, 2, 1000)
    }

    /// Whether the thread must end, at the latest after so many milliseconds.
    private func isEnded(after milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}

extension Pool {
    /// Runs `body` and converts failures of its links, which have changed nothing.
    func converting<Result>(_ work: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch LinkFailure.refused(let error) {
            throw StorageError(error, work, hosts)
        } catch LinkFailure.lost(let loss) { throw StorageError(loss, work) }
    }
}

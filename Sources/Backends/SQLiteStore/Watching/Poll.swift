import CLinux
import Glibc
import LocalDataPluginAPI
import Synchronization

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

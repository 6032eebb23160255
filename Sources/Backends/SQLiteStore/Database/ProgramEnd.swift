import Glibc
import Synchronization

/// Truncates long logs when the process ends with exit(3), where nothing closes a database. A killed process leaves its
/// log to the next one that writes.
enum ProgramEnd {
    private struct Entry {
        weak var database: Database?
    }

    private static let entries = Mutex<[Entry]>([])
    private static let process = getpid()
    private static let isRegistered: Bool = {
        _ = process
        return atexit { ProgramEnd.run() } == 0
    }()

    /// Registers a database that is written to.
    static func add(_ database: Database) {
        _ = isRegistered
        entries.withLock { entries in
            entries.removeAll { $0.database == nil || $0.database === database }
            entries.append(Entry(database: database))
        }
    }

    private static func run() {
        // A child process has the connections too, but must not use them.
        guard getpid() == process else { return }
        for entry in entries.withLock({ $0 }) { entry.database?.cutLogAtEnd() }
    }
}

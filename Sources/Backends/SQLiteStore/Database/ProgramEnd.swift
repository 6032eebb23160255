import Glibc
import Synchronization

/// Leaves short logs when the process ends by exit(3), where nothing closes a database. One that is killed leaves what
/// there is to the next that writes.
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

    /// Takes in a database that is written to.
    static func add(_ database: Database) {
        _ = isRegistered
        entries.withLock { entries in
            entries.removeAll { $0.database == nil || $0.database === database }
            entries.append(Entry(database: database))
        }
    }

    private static func run() {
        // A child process has the connections, too, and must not use them.
        guard getpid() == process else { return }
        for entry in entries.withLock({ $0 }) { entry.database?.cutLogAtEnd() }
    }
}

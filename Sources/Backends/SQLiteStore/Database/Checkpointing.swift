import CSQLite
import Glibc
import Synchronization

/// Keeps the write-ahead log short. After every 1,000 pages the log is copied into the database, without waiting for
/// anyone. If readers have blocked the log's restart for long, or one change was that large, the log is truncated,
/// which waits briefly for readers.
final class Checkpointing {
    /// The number of pages in the log at which they are copied into the database.
    private static let usual: Int32 = 1000
    /// The number of pages in the log at which it is truncated, and by which it must grow before the next time.
    private static let urgent: Int32 = 16_000
    /// The size in bytes that the log's file keeps when it restarts.
    static let keptLog = 16 << 20

    /// The size in bytes of a log that is truncated when a process begins to write, and when it ends.
    static let longLog = 1 << 20

    private var urgentAt = urgent
    private var isUrgent = false

    /// Makes SQLite call this object after each change; it must live as long as the connection.
    func begin(_ connection: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            connection,
            { context, connection, name, pages in
                guard let context, let connection, pages >= Checkpointing.usual else { return SQLITE_OK }
                let checkpointing = Unmanaged<Checkpointing>.fromOpaque(context).takeUnretainedValue()
                checkpointing.run(connection, name, pages)
                // The change is already committed, whatever the result.
                return SQLITE_OK
            }, context)
    }

    private func run(_ connection: OpaquePointer, _ name: UnsafePointer<CChar>?, _ pages: Int32) {
        sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if pages < Self.urgent { urgentAt = Self.urgent }
        guard pages >= urgentAt else { return }
        urgentAt = pages + Self.urgent
        isUrgent = true
    }

    /// Whether the log has become so long that it must be truncated; `true` only once each time.
    func takeUrgency() -> Bool {
        defer { isUrgent = false }
        return isUrgent
    }
}

extension Connection {
    /// Copies the whole log into the database, and frees its space on the disk.
    ///
    /// - Returns: Whether that was complete, which requires that nobody is reading.
    func emptyLog(waiting milliseconds: Int32) throws -> Bool {
        sqlite3_busy_timeout(handle, milliseconds)
        defer { waitsForOthers(true) }
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xff == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw failure() }
        return true
    }

    /// Truncates the log if the next process would notice its length: the first process to open the database reads all
    /// of it. Waits for nobody; if it is blocked now, the next attempt does it.
    ///
    /// - Returns: Whether the log was truncated.
    func cutLongLog() -> Bool {
        var log = stat()
        guard stat("\(path)-wal", &log) == 0, log.st_size > Checkpointing.longLog else { return false }
        return (try? emptyLog(waiting: 0)) == true
    }
}

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

import CSQLite
import Glibc
import Synchronization

/// Knows how long the write-ahead log is. From 1,000 pages on, the log is copied into the database after each change,
/// without waiting for anyone, until it restarts. If readers have blocked its restart for long, or one change was that
/// large, the log is truncated, which waits briefly for readers.
///
/// The log is copied only while nobody writes. Before version 3.51.3, SQLite may lose pages if a writer restarts the
/// log just when it is copied once more after it was copied whole (sqlite.org/wal.html#walresetbug).
final class Checkpointing {
    /// The number of pages in the log at which they are copied into the database.
    private static let usual: Int32 = 1000
    /// The number of pages in the log at which it is truncated, and by which it must grow before the next time.
    private static let urgent: Int32 = 16_000
    /// The size in bytes that the log's file keeps when it restarts.
    static let keptLog = 16 << 20

    /// The size in bytes of a log that is truncated when a process begins to write, and when it ends.
    static let longLog = 1 << 20

    /// The number of pages in the log after the last change.
    private var pages: Int32 = 0
    private var urgentAt = urgent

    /// Makes SQLite tell this object of each change; it must live as long as the connection.
    func begin(_ connection: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            connection,
            { context, _, _, pages in
                if let context { Unmanaged<Checkpointing>.fromOpaque(context).takeUnretainedValue().pages = pages }
                return SQLITE_OK
            }, context)
    }

    /// Whether the log is so long that it must be copied.
    var isDue: Bool { pages >= Self.usual }

    /// Whether the log has become so long that it must be truncated; `true` only once each time.
    func takeUrgency() -> Bool {
        if pages < Self.urgent { urgentAt = Self.urgent }
        guard pages >= urgentAt else { return false }
        urgentAt = pages + Self.urgent
        return true
    }
}

extension DatabaseConnection {
    /// Copies what no reader needs of the log into the database, unless another process writes: then that one does it
    /// after its change.
    ///
    /// - Parameter gate: Another connection, which keeps writers out meanwhile.
    func copyLog(excluding gate: DatabaseConnection) {
        guard (try? gate.begin()) != nil else { return }
        defer { gate.endReading() }
        sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    /// Copies the whole log into the database, and frees its space on the disk.
    ///
    /// - Returns: Whether that was complete, which requires that nobody is writing or reading. Otherwise the log keeps
    ///   its length.
    func emptyLog(waiting milliseconds: Int) throws -> Bool {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        defer { waitsForOthers(true) }
        let code = withUnsafePointer(to: Patience(connection: handle, end: end)) { patience in
            sqlite3_busy_handler(handle, waitOrGiveUp, UnsafeMutableRawPointer(mutating: patience))
            return sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        }
        if [SQLITE_BUSY, SQLITE_INTERRUPT].contains(code & 0xff) { return false }
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

/// Until when a connection waits for others while it empties the log.
private struct Patience {
    let connection: OpaquePointer
    let end: ContinuousClock.Instant
}

/// Called by SQLite when another connection prevents that the log is emptied; returns whether to try again.
private func waitOrGiveUp(context: UnsafeMutableRawPointer?, attempts: Int32) -> Int32 {
    guard let patience = context?.load(as: Patience.self) else { return 0 }
    guard ContinuousClock.now < patience.end else {
        // Otherwise SQLite would copy what it can although another connection writes.
        sqlite3_interrupt(patience.connection)
        return 0
    }
    pauseForOthers(attempts)
    return 1
}

/// Closes databases when the process ends with exit(3), where nothing else does: the last one to close a database
/// copies its log into it and removes the log, so that the newest values are not in a file that a cleaner or a copy
/// leaves out. A killed process leaves its log to the next one.
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

    /// Registers a database that is used.
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
        for entry in entries.withLock({ $0 }) { entry.database?.closeAtEnd() }
    }
}

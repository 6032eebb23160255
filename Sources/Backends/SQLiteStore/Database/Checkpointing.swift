import CSQLite
import Glibc

/// Keeps the write-ahead log short. What is in the log is brought into the database after every 1,000 pages, which
/// waits for nobody. If readers have kept that from the log's start for long, or one change was that large, the log is
/// cut off, which waits for readers for a moment.
final class Checkpointing {
    /// Pages in the log from which on they are brought into the database.
    private static let usual: Int32 = 1000
    /// Pages in the log from which on it is to be cut, and how many more there are before the next time.
    private static let urgent: Int32 = 16_000
    /// Bytes that the log's file keeps when it starts anew.
    static let keptLog = 16 << 20

    /// Bytes of a log that is cut when a process begins to write, and when it ends.
    static let longLog = 1 << 20

    private var urgentAt = urgent
    private var isUrgent = false

    /// Lets SQLite ask this object, which has to live as long as the connection, after each change.
    func begin(_ connection: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            connection,
            { context, connection, name, pages in
                guard let context, let connection, pages >= Checkpointing.usual else { return SQLITE_OK }
                let checkpointing = Unmanaged<Checkpointing>.fromOpaque(context).takeUnretainedValue()
                checkpointing.run(connection, name, pages)
                // The change is made, whatever came of this.
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

    /// Whether the log has become so long that it is to be cut; asked once of each time.
    func takeUrgency() -> Bool {
        defer { isUrgent = false }
        return isUrgent
    }
}

extension Connection {
    /// Brings all of the log into the database, and gives back its room on the disk.
    ///
    /// - Returns: Whether all of it could be, which needs that nobody reads at the moment.
    func emptyLog(waiting milliseconds: Int32) throws -> Bool {
        sqlite3_busy_timeout(handle, milliseconds)
        defer { waitsForOthers(true) }
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xff == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw failure() }
        return true
    }

    /// Cuts the log off if it is so long that the next process would notice: one that opens the database reads all of
    /// it, if no other has it open. Waits for nobody; what cannot be done now is left to the next who tries.
    ///
    /// - Returns: Whether the log was cut.
    func cutLongLog() -> Bool {
        var log = stat()
        guard stat("\(path)-wal", &log) == 0, log.st_size > Checkpointing.longLog else { return false }
        return (try? emptyLog(waiting: 0)) == true
    }
}

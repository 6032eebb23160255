import CSQLite

/// Keeps the write-ahead log short. What is in the log is brought into the database after every 1,000 pages, which
/// waits for nobody. If readers have kept that from the log's start for long, it waits for them for a moment.
final class Checkpointing {
    /// Pages in the log from which on they are brought into the database.
    private static let usual: Int32 = 1000
    /// Pages in the log from which on readers are waited for, and how many more there are before the next time.
    private static let urgent: Int32 = 16_000
    /// Bytes that the log's file keeps when it starts anew.
    static let keptLog = 16 << 20

    private var urgentAt = urgent

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
        guard pages >= urgentAt else {
            sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            if pages < Self.urgent { urgentAt = Self.urgent }
            return
        }
        urgentAt = pages + Self.urgent
        sqlite3_busy_timeout(connection, 200)
        sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_RESTART, nil, nil)
        sqlite3_busy_handler(connection, waitForOthers, nil)
    }
}

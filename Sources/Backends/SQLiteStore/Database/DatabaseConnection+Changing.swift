import CSQLite
import DurableFiles
import LocalDataPluginAPI

extension DatabaseConnection {
    /// Begins an exclusive write transaction.
    ///
    /// - Throws: `busy` if others write for a minute; `permissionDenied` if the database is read-only.
    func begin() throws { try statement(.begin).run() }

    /// Runs `body` within the transaction that has begun, and commits it.
    ///
    /// - Throws: What `body` throws, and disk errors; then nothing has changed. `timedOut` if the disk failed in such a
    ///   way that it is unknown whether the change exists when the database is opened next.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        let result: Result
        do { result = try body() } catch {
            rollBack()
            throw error
        }
        do { try statement(.commit).run() } catch let error as StorageError {
            let code = sqlite3_extended_errcode(handle)
            rollBack()
            if code & 0xff == SQLITE_IOERR { try outrun(error) }
            throw error
        }
        return result
    }

    /// Runs `body` on a snapshot of one moment.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        if isFrozen { return try body() }
        try statement(.beginReading).run()
        defer { endReading() }
        return try body()
    }

    /// Ends reading from a snapshot.
    func endReading() { if !isFrozen { rollBack() } }

    /// Lets all reads be of this moment, as long as the connection lives.
    func freeze() throws {
        try statement(.beginReading).run()
        // The transaction sees the moment of its first read.
        _ = try number(of: "schema_version")
        isFrozen = true
    }

    /// Whether this connection's file has lost its name, to another file or none.
    var hasMoved: Bool {
        var moved: Int32 = 0
        if let folder, !folder.isCurrent { return true }
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// How often other connections have changed the database, as far as this one has noticed.
    func dataVersion() throws -> Int64 {
        let statement = try statement(.dataVersion)
        return try statement.step() ? statement.number(0) : 0
    }

    /// The number of the database's pages, with those of the running change.
    func pageCount() throws -> Int64 {
        let statement = try statement(.pageCount)
        return try statement.step() ? statement.number(0) : 0
    }

    private func rollBack() {
        if sqlite3_get_autocommit(handle) == 0 { try? statement(.rollback).run() }
    }

    /// Makes sure that a change that was reported as failed does not come back. If a commit's synchronization failed,
    /// the log may still contain it completely for the next process. The next change overwrites it; so this makes an
    /// empty one.
    private func outrun(_ cause: StorageError) throws {
        do {
            try begin()
            try execute("PRAGMA user_version = \(Schema.version)")
            try statement(.commit).run()
        } catch {
            rollBack()
            throw StorageError(
                .timedOut, "\(cause.message); whether the next opening finds the change is unknown",
                hint: "check the disk, then read the value again")
        }
    }
}

import CSQLite
import LocalDataPluginAPI
import Synchronization

/// A database file with its connections: any number for reading, one for writing.
///
/// The first change creates the file. If the file is deleted or replaced while it is open, the next change refuses it;
/// until then, reads return the old file's values.
final class Database: Sendable {
    /// The failures that a completed change survives.
    enum Durability: Sendable {
        /// A power loss.
        case full
        /// The end of the process; a power loss may undo the last changes.
        case normal
    }

    let path: String
    let file: DatabaseFile
    let changes = Changes()
    private let durability: Durability
    /// Whether nothing changes, and all is read as of the first read.
    private let isFrozen: Bool
    /// Whether a frozen database has looked for its file. It never looks again: a file that appears later is of another
    /// moment.
    private let isOpened = Atomic(false)
    private let isAbsent = Atomic(false)
    private let places = SharedTable<StorageNamespace, DatabasePlace>()
    private let readers = Readers()
    private let turns = Turns()
    private let isKnown = Atomic<Bool>(false)
    /// Held while a database is created: closing the new file drops all locks that this process has on it.
    private static let creation = Mutex(())
    /// Used only by the current writer.
    nonisolated(unsafe) private var writer: DatabaseConnection?
    /// Used only by the current writer, to keep writers of other processes out.
    nonisolated(unsafe) private var gate: DatabaseConnection?
    /// Used only by the current writer.
    nonisolated(unsafe) private let reserve: Reserve
    /// Whether the disk was full when the database was opened, and the log is to get what was freed for it.
    private let hasFreedReserve = Atomic(false)
    /// The log of the connections, once there is one.
    private let log = Mutex<LogFiles?>(nil)

    /// - Parameter isFolderPrivate: See ``DatabaseFile``.
    init(path: String, durability: Durability, isFrozen: Bool = false, isFolderPrivate: Bool = false) {
        self.path = path
        file = DatabaseFile(path, isFolderPrivate: isFolderPrivate)
        self.durability = durability
        self.isFrozen = isFrozen
        reserve = Reserve(path)
    }

    /// Inspects the file, if there is one, and restores it if a process was killed during a change. May wait.
    ///
    /// - Throws: As ``inspect()``.
    func prepare() throws {
        if let reader = try openReader() { readers.give(reader) }
    }

    /// The namespace, shared by all its keys.
    func place(_ namespace: StorageNamespace) -> DatabasePlace {
        places.value(namespace) { DatabasePlace(namespace, in: self) }
    }

    /// Whether the file exists.
    func exists() throws -> Bool { try inspect() }

    /// Reads without waiting for anyone. `nil` if there is no database.
    @inline(__always)
    func read<Result>(_ body: (DatabaseConnection) throws -> Result) throws -> Result? {
        guard let connection = try readers.take() ?? openReader() else { return nil }
        defer { readers.give(connection) }
        return try body(connection)
    }

    /// A snapshot as of its first read, for several reads; `nil` if there is no database.
    func snapshot() throws -> Snapshot? {
        guard let connection = try readers.take() ?? openReader() else { return nil }
        return try Snapshot(connection, of: readers)
    }

    /// Makes changes, all or none, as the only writer. Creates a missing database.
    ///
    /// - Parameters:
    ///   - count: The number of bytes to store; `nil` for a removal, which works on a full disk.
    ///   - body: Called again if the disk was full, and emptying the log has freed space.
    func write<Result>(adding count: Int?, _ body: (ChangeTransaction) throws -> Result) throws -> Result {
        try turns.take {
            let result: Result
            do { result = try writeMakingRoom(count, body) } catch let error as StorageError
                where error.code == .noSpace
            {
                // The reserve may have been in a log that was emptied for the change.
                _ = reserve.keep(adding: 0)
                throw error
            }
            keepLogShort()
            // Makes room for the next removal.
            if count == nil, !reserve.keep(adding: 0) { _ = try? emptyLog(adding: 0) }
            return result
        }
    }

    /// Empties the log, which then has a reserve again: on a full disk the space that it had.
    ///
    /// - Returns: Whether the disk has space for a change, and for a removal after it; `nil` if others use the log.
    private func emptyLog(adding count: Int) throws -> Bool? {
        let space = reserve.logSpace
        guard let writer, try writer.emptyLog(waiting: 200) else { return nil }
        if reserve.keep(adding: count) { return true }
        reserve.keepFreed(space)
        return false
    }

    /// Copies a long log into the database; the change is already committed, whatever comes of it.
    private func keepLogShort() {
        guard let writer, writer.checkpointing.isDue else { return }
        copyLog()
        if writer.checkpointing.takeUrgency(), (try? writer.emptyLog(waiting: 200)) == true {
            _ = reserve.keep(adding: 0)
        }
    }

    private func copyLog() {
        guard let writer else { return }
        if gate == nil { gate = try? DatabaseConnection(path, for: .excluding) }
        if let gate { writer.copyLog(excluding: gate) }
    }

    private func writeMakingRoom<Result>(_ count: Int?, _ body: (ChangeTransaction) throws -> Result) throws -> Result {
        if let count { try makeRoom(count) }
        do { return try writeOnce(count, body) } catch let error as StorageError where error.code == .noSpace {
            guard let writer, try writer.emptyLog(waiting: 200) else { throw error }
            return try writeOnce(count, body)
        }
    }

    private func writeOnce<Result>(_ count: Int?, _ body: (ChangeTransaction) throws -> Result) throws -> Result {
        let connection = try begin()
        let (result, change) = try connection.transaction {
            let pages = try connection.pageCount()
            let change = try ChangeTransaction(connection)
            let result = try body(change)
            guard try count == nil || Reserve.keepPages(of: connection, after: pages) else { throw full }
            return (result, change)
        }
        change.rememberPlaces()
        // The statements of open connections do not use the new columns yet.
        if change.hasUpgraded { readers.close() }
        return result
    }

    /// Makes room for a change, and for a removal after it.
    private func makeRoom(_ count: Int) throws {
        let opened: DatabaseConnection?
        do { opened = try openWriter() } catch let error as StorageError where error.code == .permissionDenied {
            // Retried when the change begins. No other failure is: a second synchronization proves nothing.
            return
        }
        guard let writer = opened, !reserve.keep(adding: count) else { return }
        guard let hasSpace = try emptyLog(adding: count) else { throw full }
        if hasSpace { return }
        let free = try writer.number(of: "freelist_count") * Int64(DatabaseConnection.pageSize)
        guard free > count + count / 4 + 4 * DatabaseConnection.pageSize,
            reserve.keep(adding: count, usesFreePages: true)
        else {
            throw full
        }
    }

    private var full: StorageError {
        StorageError(
            .noSpace, "cannot use the database '\(path)': the disk is full, except for a reserve for removals",
            hint: "remove values, free some space, or move the database to another disk")
    }

    /// Erases all removed or replaced values from the database's files.
    ///
    /// - Throws: `busy` if others read for long.
    func wipe() throws {
        try turns.take {
            guard let writer = try openWriter() else { return }
            guard try writer.wipe() else {
                throw StorageError(
                    .busy, "the log of the database '\(path)' contains removed values, and others are reading it",
                    hint: "try again")
            }
        }
    }

    /// A number that changes with other processes' changes, and not with this one's; `nil` if there is no database.
    func foreignVersion() throws -> Int64? {
        try turns.take { try openWriter()?.dataVersion() }
    }

    private var moved: StorageError {
        StorageError(
            .storeUnavailable, "the database '\(path)' was deleted or replaced while it was in use",
            hint: "restart the program, so that it opens the current file")
    }

    /// Whether the log of the connections is not the one that other processes find.
    private var hasLostLog: Bool { log.withLock { $0 }.map { $0 != LogFiles(of: path) } ?? false }

    /// Knows the log of a connection from now on.
    ///
    /// - Returns: Whether none was known before.
    @discardableResult
    private func noteLog() -> Bool {
        log.withLock { log in
            let isNew = log == nil
            if isNew { log = LogFiles(of: path) }
            return isNew
        }
    }

    private var logMoved: StorageError {
        StorageError(
            .storeUnavailable,
            "the log of the database '\(path)' ('-wal' and '-shm') was deleted or replaced while it was in use, with "
                + "the changes that were only there",
            hint: "restart the program, and restore what is missing from a backup")
    }

    /// The writer, with an open transaction.
    private func begin() throws -> DatabaseConnection {
        do { return try beginOnce() } catch let error as StorageError where error.code == .permissionDenied {
            // If the log's index cannot be opened for writing, even for a moment, SQLite opens it for reading, and all
            // connections of the process share it until the last one is closed. Those in use are closed later, such as
            // the one that this change is based on, and then the next attempt succeeds.
            closeConnections()
            do { return try beginOnce() } catch {
                closeConnections()
                throw error
            }
        }
    }

    private func closeConnections() {
        writer = nil
        gate = nil
        reserve.forgetLog()
        readers.renew()
        log.withLock { $0 = nil }
    }

    private func beginOnce() throws -> DatabaseConnection {
        let connection = try writerMaking()
        guard !connection.hasMoved else { throw moved }
        noteLog()
        guard !hasLostLog else { throw logMoved }
        try connection.begin()
        return connection
    }

    private func writerMaking() throws -> DatabaseConnection {
        if let writer = try openWriter() { return writer }
        try Self.creation.withLock { _ in try file.make() }
        if let writer = try openWriter() { return writer }
        throw StorageError(
            .storeUnavailable, "the database '\(path)' disappeared right after it was created",
            hint: "choose another 'path'")
    }

    private func openWriter() throws -> DatabaseConnection? {
        if let writer { return writer }
        if isFrozen {
            throw StorageError(
                .unsupported, "the database '\(path)' is frozen: the store shows its values, and changes none",
                hint: "use a store without the option 'frozen'")
        }
        if let reader = readers.take() {
            defer { readers.give(reader) }
            // Otherwise readers would not see what is written.
            guard !reader.hasMoved else { throw moved }
        }
        guard try inspect() else { return nil }
        guard ReadOnlyMedium(path) == .none else {
            throw StorageError(
                .permissionDenied, "the database '\(path)' is on a read-only medium",
                hint: "move the database to a writable disk")
        }
        guard let connection = try DatabaseConnection(path, for: .writing(durability)) else { return nil }
        // This opens the log, or creates it.
        try connection.requireKnownVersion()
        let isNewLog = noteLog()
        connection.keepLog()
        do { if durability == .full { try file.synchronizeNames() } } catch {
            // The only connection is closed then, and SQLite removes its log: the next one's is no replaced one.
            if isNewLog { log.withLock { $0 = nil } }
            throw error
        }
        if hasFreedReserve.exchange(false, ordering: .relaxed) {
            ld_sqlite_allocate_index(connection.handle)
            reserve.keepFreed(Reserve.mostFreed)
        }
        file.removeAbandonedSpools()
        cutLongLog(connection)
        writer = connection
        ProgramEnd.add(self)
        return connection
    }

    /// Truncates a long log, and reserves space for a removal after its end.
    private func cutLongLog(_ connection: DatabaseConnection) {
        if connection.cutLongLog() { _ = reserve.keep(adding: 0) }
    }

    /// Closes all connections that no thread is using, unless one is in the middle of a change. If others have the
    /// database open, it leaves them a short log.
    func closeAtEnd() {
        turns.takeIfFree {
            // SQLite would copy a log that others have deleted into the database, over what they have changed since.
            guard !isFrozen, !hasLostLog, !hasMoved else { return }
            if let writer { cutLongLog(writer) }
            guard IdleReserve(path: path).hasRoom else {
                // The log stays: it has the reserve, and may be all that still finds space.
                copyLog()
                return
            }
            closeConnections()
            IdleReserve(path: path).keep()
        }
    }

    private var hasMoved: Bool {
        if let writer { return writer.hasMoved }
        guard let reader = readers.take() else { return false }
        defer { readers.give(reader) }
        return reader.hasMoved
    }

    private func openReader() throws -> DatabaseConnection? {
        if isFrozen { return try openFrozenReader() }
        return try openAnyReader()
    }

    /// The only reader of a frozen database, in a transaction that ends with it.
    private func openFrozenReader() throws -> DatabaseConnection? {
        guard !isOpened.exchange(true, ordering: .acquiringAndReleasing) else {
            if isAbsent.load(ordering: .acquiring) { return nil }
            throw StorageError(
                .busy, "the frozen database '\(path)' is being read by another thread", hint: "read it by one at a time"
            )
        }
        guard let reader = try openAnyReader() else {
            isAbsent.store(true, ordering: .releasing)
            return nil
        }
        try reader.freeze()
        return reader
    }

    private func openAnyReader() throws -> DatabaseConnection? {
        guard try inspect() else { return nil }
        do { return try openReader(.reading) } catch {
            // Reading requires the log's index, which cannot be created on such a medium.
            switch ReadOnlyMedium(path) {
            case .none: throw error
            case .withoutLog: return try openReader(.readingMedium)
            case .withLog:
                throw StorageError(
                    .storeUnavailable,
                    "the database '\(path)' is on a read-only medium, with a log ('-wal') whose index ('-shm') "
                        + "is missing", hint: "copy the database with its log to a writable disk")
            }
        }
    }

    private func openReader(_ purpose: DatabaseConnection.Purpose) throws -> DatabaseConnection? {
        let era = readers.era
        guard let connection = try DatabaseConnection(path, for: purpose) else { return nil }
        connection.era = era
        // Also a call that waits for nobody waits for one that closes the database as the last one, which is soon done.
        connection.waitsForOthers(true)
        try connection.requireKnownVersion()
        connection.waitsForOthers(false)
        readers.note(connection)
        noteLog()
        if !isFrozen { ProgramEnd.add(self) }
        return connection
    }

    /// Whether the file exists and is one of our databases. Checks once; does not touch other files.
    ///
    /// - Throws: `corrupt` for a file that is not a database; `storeUnavailable` for another application's;
    ///   `unsupported` for one of a later version.
    private func inspect() throws -> Bool {
        if isKnown.load(ordering: .acquiring) { return true }
        return try Self.creation.withLock { _ in try inspectFile() }
    }

    private func inspectFile() throws -> Bool {
        if IdleReserve(path: path).take() { hasFreedReserve.store(true, ordering: .relaxed) }
        guard try FilePresence(path) == .present, let connection = try DatabaseConnection(path, for: .inspecting) else {
            return false
        }
        try connection.requireOwn()
        isKnown.store(true, ordering: .releasing)
        return true
    }
}

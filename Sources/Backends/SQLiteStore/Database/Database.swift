import LocalDataAPI
import Synchronization

/// A database file with its connections: any number for reading, one for writing.
///
/// The file is made with the first change. One that is deleted or replaced while it is open is refused by the next
/// change; what is read until then is the old one's.
final class Database: Sendable {
    /// What a change that was returned from survives.
    enum Durability: Sendable {
        /// A power loss.
        case full
        /// The end of the process; a power loss may take the last changes away.
        case normal
    }

    let path: String
    let changes = Changes()
    private let durability: Durability
    private let places = SharedTable<StorageNamespace, Place>()
    private let readers = Readers()
    private let turns = Turns()
    private let isKnown = Atomic<Bool>(false)
    /// Used by who has the turn.
    nonisolated(unsafe) private var writer: Connection?
    /// Used by who has the turn.
    nonisolated(unsafe) private let reserve: Reserve

    init(path: String, durability: Durability) {
        self.path = path
        self.durability = durability
        reserve = Reserve(path)
    }

    /// Looks at the file, if there is one, and restores it if a process was killed in the middle of a change. May wait.
    ///
    /// - Throws: As ``inspect()``.
    func prepare() throws {
        if let reader = try openReader(waits: true) { readers.give(reader) }
    }

    /// The place, shared by all its keys.
    func place(_ namespace: StorageNamespace) -> Place { places.value(namespace) { Place(namespace, in: self) } }

    /// Whether there is a file.
    func exists() throws -> Bool { try inspect() }

    /// Reads; waits for nobody. `nil` if there is no database.
    @inline(__always)
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result? {
        guard let connection = try readers.take() ?? openReader(waits: false) else { return nil }
        defer { readers.give(connection) }
        return try body(connection)
    }

    /// What there is at the moment of its first reading, for one who reads more than once; `nil` if there is no
    /// database.
    func snapshot() throws -> Snapshot? {
        guard let connection = try readers.take() ?? openReader(waits: false) else { return nil }
        return try Snapshot(connection, of: readers)
    }

    /// Makes changes, all or none, when it is the caller's turn. The database is made if there is none.
    ///
    /// - Parameters:
    ///   - count: How many bytes it stores; `nil` if it only removes, which works on a full disk.
    ///   - body: Called once more if the disk was full, and emptying the log has freed some of it.
    func write<Result>(adding count: Int?, _ body: (Change) throws -> Result) throws -> Result {
        try turns.take {
            if let count { try makeRoom(count) }
            let result: Result
            do { result = try writeOnce(count, body) } catch let error as StorageError where error.code == .noSpace {
                guard let writer, try writer.emptyLog(waiting: 200) else { throw error }
                result = try writeOnce(count, body)
            }
            if let writer, writer.checkpointing.takeUrgency(), (try? writer.emptyLog(waiting: 200)) == true {
                _ = reserve.keep(adding: 0)
            }
            // For the next removal.
            if count == nil, !reserve.keep(adding: 0), let writer, (try? writer.emptyLog(waiting: 200)) == true {
                _ = reserve.keep(adding: 0)
            }
            return result
        }
    }

    private func writeOnce<Result>(_ count: Int?, _ body: (Change) throws -> Result) throws -> Result {
        let connection = try begin()
        let (result, change) = try connection.transaction {
            let change = try Change(connection)
            let result = try body(change)
            guard try count == nil || Reserve.keepPages(of: connection) else { throw full }
            return (result, change)
        }
        change.rememberPlaces()
        // Those that are open compare nothing.
        if change.hasAddedChecksums { readers.close() }
        return result
    }

    /// Sees to it that there is room for a change, and for a removal after it.
    private func makeRoom(_ count: Int) throws {
        let opened: Connection?
        do { opened = try openWriter() } catch let error as StorageError where error.code == .permissionDenied {
            // Tried once more when the change begins. No other failure is: a second synchronization proves nothing.
            return
        }
        guard let writer = opened, !reserve.keep(adding: count) else { return }
        guard try writer.emptyLog(waiting: 200) else { throw full }
        if reserve.keep(adding: count) { return }
        let free = try writer.number(of: "freelist_count") * Int64(Connection.pageSize)
        guard free > count + count / 4 + 4 * Connection.pageSize, reserve.keep(adding: count, usesFreePages: true)
        else {
            throw full
        }
    }

    private var full: StorageError {
        StorageError(
            .noSpace, "cannot use the database '\(path)': the disk is full, but for what is kept for removals",
            hint: "remove values, free some space, or move the database to another disk")
    }

    /// Sees to it that no file of the database has anything of what was removed or replaced.
    ///
    /// - Throws: `busy` if others read for long.
    func wipe() throws {
        try turns.take {
            guard let writer = try openWriter() else { return }
            guard try writer.wipe() else {
                throw StorageError(
                    .busy, "the log of the database '\(path)' has what was removed, and is being read by others",
                    hint: "try again")
            }
        }
    }

    /// Something that another process's changes change, and this one's do not; `nil` if there is no database.
    func foreignVersion() throws -> Int64? {
        try turns.take { try openWriter()?.dataVersion() }
    }

    private var moved: StorageError {
        StorageError(
            .storeUnavailable, "the database '\(path)' was deleted or replaced while it was in use",
            hint: "restart the program, so that it opens what is there now")
    }

    /// The writer, which has begun a transaction.
    private func begin() throws -> Connection {
        do { return try beginOnce() } catch let error as StorageError where error.code == .permissionDenied {
            // If the index of the log cannot be opened for writing, be it for a moment, SQLite opens it for reading,
            // and all connections of the process share that until the last of them is closed. Those in use are closed
            // later, and then the next attempt succeeds.
            closeConnections()
            do { return try beginOnce() } catch {
                closeConnections()
                throw error
            }
        }
    }

    private func closeConnections() {
        writer = nil
        reserve.forgetLog()
        readers.close()
    }

    private func beginOnce() throws -> Connection {
        let connection = try writerMaking()
        guard !connection.hasMoved else { throw moved }
        try connection.begin()
        return connection
    }

    private func writerMaking() throws -> Connection {
        if let writer = try openWriter() { return writer }
        try DatabaseFile(path).make()
        if let writer = try openWriter() { return writer }
        throw StorageError(
            .storeUnavailable, "the database '\(path)' is gone as soon as it was made", hint: "choose another 'path'")
    }

    private func openWriter() throws -> Connection? {
        if let writer { return writer }
        if let reader = readers.take() {
            defer { readers.give(reader) }
            // What is written would not be what is read.
            guard !reader.hasMoved else { throw moved }
        }
        guard try inspect() else { return nil }
        guard ReadOnlyMedium(path) == .none else {
            throw StorageError(
                .permissionDenied, "the database '\(path)' is on a medium that can only be read",
                hint: "move the database to a disk that can be written")
        }
        guard let connection = try Connection(path, for: .writing(durability)) else { return nil }
        // This opens the log, and makes it if there is none.
        try check(version: connection.number(of: "user_version"))
        if durability == .full { try DatabaseFile(path).synchronizeNames() }
        DatabaseFile(path).removeAbandonedSpools()
        cutLongLog(connection)
        writer = connection
        ProgramEnd.add(self)
        return connection
    }

    /// Cuts the log off if it is long, and keeps room for a removal behind what is left.
    private func cutLongLog(_ connection: Connection) {
        if connection.cutLongLog() { _ = reserve.keep(adding: 0) }
    }

    /// Leaves a short log to the next process, unless a thread is in the middle of a change.
    func cutLogAtEnd() { turns.takeIfFree { if let writer { cutLongLog(writer) } } }

    private func openReader(waits: Bool) throws -> Connection? {
        guard try inspect() else { return nil }
        do { return try openReader(.reading, waits) } catch {
            // Reading needs the log's index, which cannot be made there.
            switch ReadOnlyMedium(path) {
            case .none: throw error
            case .withoutLog: return try openReader(.readingMedium, waits)
            case .withLog:
                throw StorageError(
                    .storeUnavailable,
                    "the database '\(path)' is on a medium that can only be read, with a log ('-wal') whose index ('-shm') "
                        + "is missing", hint: "copy the database with its log to a disk that can be written")
            }
        }
    }

    private func openReader(_ purpose: Connection.Purpose, _ waits: Bool) throws -> Connection? {
        let era = readers.era
        guard let connection = try Connection(path, for: purpose) else { return nil }
        connection.era = era
        connection.waitsForOthers(waits)
        try check(version: connection.number(of: "user_version"))
        connection.waitsForOthers(false)
        return connection
    }

    /// Whether there is a file, and then it is a database of ours. Looks once; leaves alone what is none.
    ///
    /// - Throws: `corrupt` for what is no database; `storeUnavailable` for another application's; `unsupported` for one
    ///   of a later version.
    private func inspect() throws -> Bool {
        if isKnown.load(ordering: .acquiring) { return true }
        guard try FilePresence(path) == .present, let connection = try Connection(path, for: .inspecting) else {
            return false
        }
        let application = try connection.number(of: "application_id")
        if application != Schema.application, try connection.number(of: "page_count") == 0 {
            throw StorageError(
                .corrupt, "'\(path)' is empty, which no database is",
                hint: "restore it from a backup, or remove it")
        }
        guard application == Schema.application else {
            throw StorageError(
                .storeUnavailable, "the database '\(path)' is one of another application (id \(application))",
                hint: "choose another 'path'")
        }
        try check(version: connection.number(of: "user_version"))
        isKnown.store(true, ordering: .releasing)
        return true
    }

    private func check(version: Int64) throws {
        guard version <= Schema.version else {
            throw StorageError(
                .unsupported,
                "the database '\(path)' has the schema version \(version); this version knows up to \(Schema.version)",
                hint: "use the later version of LocalData that made it")
        }
        guard version >= 1 else {
            throw StorageError(
                .corrupt, "the database '\(path)' has the schema version \(version), which there is not",
                hint: "restore it from a backup")
        }
    }
}

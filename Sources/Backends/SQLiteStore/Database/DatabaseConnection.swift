import CSQLite
import DurableFiles
import Glibc
import LocalDataPluginAPI

/// A connection to a database. Its owner makes sure that only one thread uses it at a time.
final class DatabaseConnection: @unchecked Sendable {
    /// The purpose of a connection.
    enum Purpose {
        /// Reading; waits for nobody.
        case reading
        /// Reading a database that nobody can change, on a read-only medium: without a lock or a log.
        case readingMedium
        /// Changing; waits for other writers.
        case writing(Database.Durability)
        /// Keeping other connections from writing; waits for nobody.
        case excluding
        /// Inspecting a file of any type, without a lock or a change.
        case inspecting
    }

    let handle: OpaquePointer
    let path: String
    /// The prepared statements, by the number of their query; not an array, which would count references at each use.
    private let statements: UnsafeMutableBufferPointer<OpaquePointer?>
    let checkpointing = Checkpointing()
    /// The readers' era when it was opened, for ``Readers``.
    var era = 0
    /// Whether it reads as of one moment until it is closed; see ``freeze()``.
    var isFrozen = false
    /// The database's folder, if others may write to it.
    let folder: HeldFolder?

    /// Opens the database at a path; `nil` if there is no file.
    init?(_ path: String, for purpose: Purpose) throws {
        self.path = path
        let file = DatabaseFile(path, isFolderPrivate: false)
        folder = try file.sharedFolder()
        var (name, flags) = (folder.map { file.name(in: $0) } ?? path, SQLITE_OPEN_READWRITE)
        switch purpose {
        case .reading, .writing, .excluding: break
        case .inspecting, .readingMedium:
            (name, flags) = ("file:\(Self.escaped(name))?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        }
        try file.requireRegular()
        var opened: OpaquePointer?
        flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(name, &opened, flags, folder == nil ? nil : try DatabaseFile.folderVFS())
        guard let opened else { throw StorageError(.unknown, "not enough memory for a connection to '\(path)'") }
        handle = opened
        statements = Self.noStatements()
        guard code == SQLITE_OK else {
            if try FilePresence(path) == .missing { return nil }
            throw failure("open")
        }
        try prepare(for: purpose)
    }

    /// Opens a new database in memory.
    init(memory: ()) throws {
        path = ":memory:"
        folder = nil
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let opened
        else { throw StorageError(.unknown, "not enough memory for a database") }
        handle = opened
        statements = Self.noStatements()
    }

    private static func noStatements() -> UnsafeMutableBufferPointer<OpaquePointer?> {
        let statements = UnsafeMutableBufferPointer<OpaquePointer?>.allocate(capacity: Query.allCases.count)
        statements.initialize(repeating: nil)
        return statements
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        statements.deallocate()
        sqlite3_close(handle)
    }

    private func prepare(for purpose: Purpose) throws {
        switch purpose {
        case .inspecting:
            // The file length in the header does not matter here: the rest may be in the log.
            try execute("PRAGMA writable_schema = ON")
            return
        case .reading, .readingMedium:
            ld_sqlite_harden(handle)
            waitsForOthers(false)
            try execute("PRAGMA query_only = ON")
        case .excluding:
            ld_sqlite_harden(handle)
            waitsForOthers(false)
        case .writing(let durability):
            ld_sqlite_harden(handle)
            waitsForOthers(true)
            try execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL"); PRAGMA secure_delete = FAST")
            try execute("PRAGMA journal_size_limit = \(Checkpointing.keptLog)")
            checkpointing.begin(handle)
        }
        // No file for temporary data.
        try execute("PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0")
    }

    /// Whether calls wait for other connections, for up to a minute, or fail with `busy` at once.
    func waitsForOthers(_ waits: Bool) { sqlite3_busy_handler(handle, waits ? waitForOthers : nil, nil) }

    /// A prepared statement that is not running.
    @inline(__always)
    func statement(_ query: Query) throws -> PreparedStatement {
        if let known = statements[query.rawValue] { return PreparedStatement(known, of: self) }
        return PreparedStatement(try make(query), of: self)
    }

    private func make(_ query: Query) throws -> OpaquePointer {
        var made: OpaquePointer?
        var code = SQLITE_ERROR
        // A database of an earlier version lacks columns until its first change.
        for layout in Layout.allCases.reversed() where code == SQLITE_ERROR {
            code = sqlite3_prepare_v3(handle, query.text(layout), -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        }
        guard code == SQLITE_OK, let made else { throw failure() }
        statements[query.rawValue] = made
        return made
    }

    /// The columns of the rows; queried until they are those of this version.
    private(set) var layout = Layout.original

    /// Looks up the columns of the rows.
    func findLayout() throws {
        var columns: Set<String> = []
        try forEachRow(Schema.laterColumns) { columns.insert($0) }
        layout = columns.contains("expires") ? .expiry : columns.isEmpty ? .original : .checksums
    }

    /// Adds the columns that the rows lack, as part of the running change. If that fails because the database is
    /// damaged, it stays as it is.
    ///
    /// - Returns: Whether any was added.
    func upgrade() throws -> Bool {
        if layout == .expiry { return false }
        try findLayout()
        let found = layout
        for next in Layout.allCases where next.rawValue > found.rawValue {
            guard sqlite3_exec(handle, Schema.upgrade(to: next), nil, nil, nil) == SQLITE_OK else {
                // Some errors end the whole transaction.
                if sqlite3_get_autocommit(handle) != 0 { throw failure() }
                break
            }
            layout = next
        }
        guard layout != found else { return false }
        for index in statements.indices {
            sqlite3_finalize(statements[index])
            statements[index] = nil
        }
        return true
    }

    /// Makes the database keep a write-ahead log again, if another program has made it do otherwise. Waits for nobody;
    /// if it is in use, the next process does it.
    func keepLog() {
        waitsForOthers(false)
        defer { waitsForOthers(true) }
        try? execute("PRAGMA journal_mode = WAL")
    }

    /// The page size in bytes: that of ``Schema/withEmptyDatabase(_:)``.
    static let pageSize = 4096

    /// Rewrites every page of the database with only the stored data, and empties the log. Even between the values of a
    /// page there may be old data, whatever `secure_delete` says: SQLite moves values when a page becomes full.
    ///
    /// - Returns: Whether the log could be emptied.
    func wipe() throws -> Bool {
        // SQLite makes a copy on the way; a large one must not be in memory.
        let isLarge = try number(of: "page_count") > 16_384
        if isLarge { try execute("PRAGMA temp_store = FILE") }
        defer { if isLarge { try? execute("PRAGMA temp_store = MEMORY") } }
        try execute("VACUUM")
        // Otherwise old pages stay in the file behind the last page, up to the end of a chunk.
        Reserve.cutFilesExactly(of: self)
        return try emptyLog(waiting: 5000)
    }

    /// Runs statements that are not cached.
    func execute(_ text: String) throws {
        guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// Passes the first column of each row of an uncached statement, as text.
    func forEachRow(_ text: String, _ body: (String) throws -> Void) throws {
        var made: OpaquePointer?
        guard sqlite3_prepare_v2(handle, text, -1, &made, nil) == SQLITE_OK, let made else { throw failure() }
        defer { sqlite3_finalize(made) }
        let statement = PreparedStatement(made, of: self)
        while try statement.step() { try body(statement.text(0) ?? "") }
    }

    /// The value of a numeric pragma.
    func number(of pragma: String) throws -> Int64 { Int64(try text(of: pragma)) ?? 0 }

    /// The text that a pragma gives; the last one if it gives several, empty if none.
    func text(of pragma: String) throws -> String {
        var text = ""
        try forEachRow("PRAGMA \(pragma)") { text = $0 }
        return text
    }

    /// The path, escaped for a URI.
    private static func escaped(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return path.utf8.reduce(into: "") { text, byte in
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "/._-".contains(character) {
                text.append(character)
            } else {
                text += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }
}

extension DatabaseConnection {
    /// Checks everything in a snapshot of one moment, and reports problems until `report` returns `false`.
    func check(_ report: (String) -> Bool) throws {
        var wantsMore = true
        func tell(_ line: String) {
            // SQLite's answer if there are no problems.
            if wantsMore, line != "ok" { wantsMore = report("'\(path)': \(line)") }
        }
        try snapshot {
            do {
                for question in ["PRAGMA integrity_check(100)"] + Self.questions where wantsMore {
                    try forEachRow(question, tell)
                }
            } catch let error as StorageError where error.code == .corrupt {
                // So damaged that the check cannot be completed.
                tell(error.message)
            }
        }
    }

    /// Rules that the tables do not enforce. The reports contain names, but no values.
    private static let questions = [
        """
        SELECT 'the value ' || quote(name) || ' belongs to a namespace that does not exist' FROM value
        WHERE place NOT IN (SELECT id FROM place) LIMIT 100
        """,
        """
        SELECT 'the value ' || quote(name) || ' has ' || length(content) || ' bytes, not ' || size FROM value
        WHERE content IS NOT NULL AND length(content) <> size LIMIT 100
        """,
        """
        SELECT 'the value ' || quote(name) || ' has pieces of other than ' || size || ' bytes' FROM value
        WHERE content IS NULL AND size IS NOT
            (SELECT sum(length(content)) FROM piece WHERE piece.version = value.version) LIMIT 100
        """,
        """
        SELECT 'there are pieces of an absent value' FROM piece
        WHERE number = 0 AND version NOT IN (SELECT version FROM value WHERE content IS NULL) LIMIT 1
        """,
    ]
}

extension DatabaseConnection {
    /// The number of a namespace; `nil` if it has no row. A user's own folder may already have a row under another
    /// path.
    func place(_ namespace: StorageNamespace) throws -> Int64? {
        let found: Int64? = try withNames(of: namespace) { domain, scope in
            let statement = try statement(.findPlace)
            statement.bind(1, text: domain)
            statement.bind(2, text: scope)
            return try statement.step() ? statement.number(0) : nil
        }
        return try found ?? otherPath(of: namespace)
    }

    private func otherPath(of namespace: StorageNamespace) throws -> Int64? {
        guard namespace.directory != nil, namespace.scope.utf8.first == UInt8(ascii: "/") else { return nil }
        let rows = try withNames(of: namespace) { domain, _ in
            let statement = try statement(.folders)
            statement.bind(1, text: domain)
            var rows: [(number: Int64, path: String)] = []
            while try statement.step() { rows.append((statement.number(0), statement.text(1) ?? "")) }
            return rows
        }
        guard !rows.isEmpty else { return nil }
        let folder = PathIdentity(namespace.scope)
        return rows.first { PathIdentity($0.path) == folder }?.number
    }

    /// Creates the row of a namespace that has none, and returns its number.
    func makePlace(_ namespace: StorageNamespace) throws -> Int64 {
        try withNames(of: namespace) { domain, scope in
            let statement = try statement(.makePlace)
            statement.bind(1, text: domain)
            statement.bind(2, text: scope)
            try statement.run()
            return sqlite3_last_insert_rowid(handle)
        }
    }

    private func withNames<Result>(
        of namespace: StorageNamespace, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try Array(namespace.domain.utf8).withUnsafeBytes { domain in
            try Array(namespace.scope.utf8).withUnsafeBytes { scope in try body(domain, scope) }
        }
    }
}

/// Called by SQLite when another connection blocks it; returns whether to try again.
func waitForOthers(context: UnsafeMutableRawPointer?, attempts: Int32) -> Int32 {
    guard attempts < longestWait else { return 0 }
    pauseForOthers(attempts)
    return 1
}

/// Lets other connections go on, which SQLite reports nothing of. The pauses vary, so that among many waiting processes
/// none is always the last to try.
func pauseForOthers(_ attempts: Int32) { usleep(attempts < 4 ? 200 : UInt32.random(in: 1000...5000)) }

/// The number of attempts in about a minute.
private let longestWait: Int32 = 20_000

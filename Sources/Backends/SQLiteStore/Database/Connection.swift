import CSQLite
import LocalDataAPI

/// A connection to a database. It is used by one thread at a time, which whoever has it sees to.
final class Connection: @unchecked Sendable {
    /// What a connection is for.
    enum Purpose {
        /// Reading; waits for nobody.
        case reading
        /// Changing; waits for its turn.
        case writing(Database.Durability)
        /// A look at what a file is, without a lock or a change, even if it is none of ours.
        case inspecting
    }

    let handle: OpaquePointer
    let path: String
    /// The prepared statements, by the number of their query; not an array, which would be counted at each use.
    private let statements = UnsafeMutableBufferPointer<OpaquePointer?>.allocate(capacity: Query.allCases.count)
    private let checkpointing = Checkpointing()
    /// When it was opened, for ``Readers``.
    var era = 0

    /// Opens the database of a path; `nil` if there is no file.
    init?(_ path: String, for purpose: Purpose) throws {
        self.path = path
        var (name, flags) = (path, SQLITE_OPEN_READWRITE)
        if case .inspecting = purpose {
            (name, flags) = ("file:\(Self.escaped(path))?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard let opened else { throw StorageError(.unknown, "there is no memory for a connection to '\(path)'") }
        handle = opened
        statements.initialize(repeating: nil)
        guard code == SQLITE_OK else {
            if try FilePresence(path) == .missing { return nil }
            throw failure("open")
        }
        try prepare(for: purpose)
    }

    /// Opens a database of its own in memory.
    init(memory: ()) throws {
        path = ":memory:"
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let opened
        else { throw StorageError(.unknown, "there is no memory for a database") }
        handle = opened
        statements.initialize(repeating: nil)
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        statements.deallocate()
        sqlite3_close(handle)
    }

    private func prepare(for purpose: Purpose) throws {
        switch purpose {
        case .inspecting:
            // What the header says of the file's length does not matter here: the rest may be in the log.
            try execute("PRAGMA writable_schema = ON")
            return
        case .reading:
            ld_sqlite_harden(handle)
            waitsForOthers(false)
            try execute("PRAGMA query_only = ON")
        case .writing(let durability):
            ld_sqlite_harden(handle)
            waitsForOthers(true)
            try execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL"); PRAGMA secure_delete = FAST")
            try execute("PRAGMA journal_size_limit = \(Checkpointing.keptLog)")
            checkpointing.begin(handle)
        }
        // No file of its own for what is sorted.
        try execute("PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0")
    }

    /// Whether calls wait for other connections, for up to a minute, or fail with `busy` at once.
    func waitsForOthers(_ waits: Bool) { sqlite3_busy_handler(handle, waits ? waitForOthers : nil, nil) }

    /// A prepared statement that is not under way.
    @inline(__always)
    func statement(_ query: Query) throws -> Statement {
        if let known = statements[query.rawValue] { return Statement(known, of: self) }
        return Statement(try make(query), of: self)
    }

    private func make(_ query: Query) throws -> OpaquePointer {
        var made: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, query.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK, let made else { throw failure() }
        statements[query.rawValue] = made
        return made
    }

    /// Runs statements that are not kept.
    func execute(_ text: String) throws {
        guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// Hands out the first column of each row of a statement that is not kept, as text.
    func forEachRow(_ text: String, _ body: (String) throws -> Void) throws {
        var made: OpaquePointer?
        guard sqlite3_prepare_v2(handle, text, -1, &made, nil) == SQLITE_OK, let made else { throw failure() }
        defer { sqlite3_finalize(made) }
        let statement = Statement(made, of: self)
        while try statement.step() { try body(statement.text(0) ?? "") }
    }

    /// The number that a pragma gives.
    func number(of pragma: String) throws -> Int64 {
        var number: Int64 = 0
        try forEachRow("PRAGMA \(pragma)") { number = Int64($0) ?? 0 }
        return number
    }

    /// The path in a URI.
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

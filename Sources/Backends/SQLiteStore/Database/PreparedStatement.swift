import CSQLite

/// A running prepared statement. On deallocation it is reset and its bindings are cleared.
///
/// Bound memory is not copied: it must stay valid until then.
struct PreparedStatement: ~Copyable {
    private let pointer: OpaquePointer
    private let connection: Unmanaged<DatabaseConnection>

    init(_ pointer: OpaquePointer, of connection: DatabaseConnection) {
        self.pointer = pointer
        self.connection = .passUnretained(connection)
    }

    deinit {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }

    /// Moves to the next row; `false` at the end.
    @inline(__always)
    borrowing func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection._withUnsafeGuaranteedRef { $0.failure() }
        }
    }

    /// Runs a statement without rows.
    borrowing func run() throws { while try step() {} }

    @inline(__always)
    borrowing func bind(_ index: Int32, _ number: Int64) { sqlite3_bind_int64(pointer, index, number) }

    @inline(__always)
    borrowing func bind(_ index: Int32, text: UnsafeRawBufferPointer) {
        ld_sqlite_bind_text(pointer, index, text.baseAddress, UInt64(text.count))
    }

    @inline(__always)
    borrowing func bind(_ index: Int32, bytes: UnsafeRawBufferPointer) {
        ld_sqlite_bind_blob(pointer, index, bytes.baseAddress, UInt64(bytes.count))
    }

    borrowing func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    borrowing func number(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    /// The number in a column; `nil` if it is NULL.
    borrowing func numberIfThere(_ column: Int32) -> Int64? { isNull(column) ? nil : number(column) }

    /// The bytes of a column, valid while the row is current.
    @inline(__always)
    borrowing func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }

    /// The text of a column; `nil` if it is NULL.
    borrowing func text(_ column: Int32) -> String? {
        isNull(column) ? nil : String(decoding: bytes(column), as: UTF8.self)
    }
}

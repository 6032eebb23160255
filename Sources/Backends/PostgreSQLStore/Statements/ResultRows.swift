import Glibc
internal import CPostgreSQL

/// The rows that a statement returned.
final class ResultRows {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    /// The number of rows.
    var count: Int { Int(PQntuples(result)) }

    /// The number of columns.
    var columns: Int { Int(PQnfields(result)) }

    func isNull(_ column: Int32, row: Int = 0) -> Bool { PQgetisnull(result, Int32(row), column) == 1 }

    /// A number of 1, 2, 4 or 8 bytes; 0 for NULL. A truth value is a number, too.
    func integer(_ column: Int32, row: Int = 0) -> Int64 {
        let bytes = bytes(column, row: row)
        if bytes.count == 8 { return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) }
        var number: Int64 = bytes.first.map { $0 >= 0x80 && bytes.count > 1 ? -1 : 0 } ?? 0
        for byte in bytes { number = number << 8 | Int64(byte) }
        return number
    }

    /// The bytes of a column, valid as long as this object.
    func bytes(_ column: Int32, row: Int = 0) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), column), count: Int(PQgetlength(result, Int32(row), column)))
    }

    /// Clears a value that may be part of a secret.
    func clear(_ column: Int32, row: Int = 0) {
        let bytes = bytes(column, row: row)
        if let start = bytes.baseAddress { explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }

    /// A text; `nil` for NULL.
    func text(_ column: Int32, row: Int = 0) -> String? {
        isNull(column, row: row) ? nil : String(decoding: bytes(column, row: row), as: UTF8.self)
    }
}

internal import CPostgreSQL
internal import Glibc

/// A parameter of a statement, in the server's binary format.
enum Parameter {
    case null
    case integer(Int64)
    /// An identifier or a number of 32 bits.
    case short(Int32)
    /// Bytes that stay valid during the call.
    case lent(UnsafeRawBufferPointer)
    case bytes([UInt8])
    /// The bytes of a text.
    case text(String)

    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

/// A statement with its parameters.
struct Call {
    let statement: Statement
    let parameters: [Parameter]
    /// The text of a statement that is not in the list, such as one that creates a table.
    let text: String?

    init(_ statement: Statement, _ parameters: [Parameter] = []) {
        (self.statement, self.parameters, text) = (statement, parameters, nil)
    }

    init(text: String, _ parameters: [Parameter] = []) {
        (statement, self.parameters, self.text) = (.other, parameters, text)
    }
}

/// The parameters of one call as libpq takes them, all binary. The memory serves the next call, too.
struct ParameterBlock {
    /// Everything that is not lent; it is not empty, because libpq takes no address for NULL.
    private var buffer: [UInt8] = [0]
    private var starts: [Int] = []
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// The bytes of the parameters that were filled in last.
    private(set) var size = 0

    /// Lends the parameters of a call.
    mutating func lend<Result>(
        _ parameters: [Parameter],
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        fill(parameters)
        if formats.count < parameters.count { formats = Array(repeating: 1, count: parameters.count) }
        values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        size = 0
        return buffer.withUnsafeBytes { buffer in
            let base = buffer.baseAddress
            for (index, parameter) in parameters.enumerated() {
                let end = index + 1 < starts.count ? starts[index + 1] : buffer.count
                var (start, count) = (base.map { $0 + starts[index] }, end - starts[index])
                switch parameter {
                case .null: start = nil
                case .lent(let bytes): (start, count) = (bytes.baseAddress ?? base, bytes.count)
                default: break
                }
                values.append(start?.assumingMemoryBound(to: CChar.self))
                lengths.append(Int32(clamping: count))
                size += count
            }
            return body(Int32(parameters.count), values, lengths, formats)
        }
    }

    /// Writes what is not lent into the buffer.
    private mutating func fill(_ parameters: [Parameter]) {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(0)
        starts.removeAll(keepingCapacity: true)
        for parameter in parameters {
            starts.append(buffer.count)
            switch parameter {
            case .null, .lent: break
            case .integer(let number): withUnsafeBytes(of: number.bigEndian) { buffer.append(contentsOf: $0) }
            case .short(let number): withUnsafeBytes(of: number.bigEndian) { buffer.append(contentsOf: $0) }
            case .bytes(let bytes): buffer.append(contentsOf: bytes)
            case .text(let text): buffer.append(contentsOf: text.utf8)
            }
        }
    }
}

/// The rows that a statement returned.
final class Answer {
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

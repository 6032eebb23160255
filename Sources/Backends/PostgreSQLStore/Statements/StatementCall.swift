internal import CPostgreSQL

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
struct StatementCall {
    let statement: StoreStatement
    let parameters: [Parameter]
    /// The text of a statement that is not in the list, such as one that creates a table.
    let text: String?

    init(_ statement: StoreStatement, _ parameters: [Parameter] = []) {
        (self.statement, self.parameters, text) = (statement, parameters, nil)
    }

    init(text: String, _ parameters: [Parameter] = []) {
        (statement, self.parameters, self.text) = (.other, parameters, text)
    }
}

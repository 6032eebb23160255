/// Why bytes are no JSON, and at which byte. It quotes nothing: the bytes may be a secret.
struct JSONFault: Error {
    let offset: Int
    let message: String

    /// Line and column of the fault, counted from 1; a column is a byte.
    func place(in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (line, offset - start + 1)
    }
}

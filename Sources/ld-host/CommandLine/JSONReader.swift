internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI

/// Reads a JSON text (RFC 8259) from its start, with memory for a piece of it or for the largest value that is asked
/// for.
///
/// What it hands out is the text as it is: in order, with every repeated name, and with names apart that are one text
/// to `String` but differ in their bytes. A decoder's dictionary silently keeps one of such members. It looks at what
/// stands between values; whether a value is one, its decoder says.
struct JSONReader {
    let document: InputDocument
    private var cursor: JSONCursor<DocumentBytes>
    /// Where the value begins that was read last.
    private var start = 0
    private var levels: [JSONCursor<DocumentBytes>.Level] = []

    /// - Throws: `fileError`.
    init(_ document: InputDocument) throws(StorageError) {
        self.document = document
        let bytes = DocumentBytes(document)
        let hasMark = JSON.byteOrderMark.enumerated().allSatisfy { bytes.byte(at: $0) == $1 }
        cursor = JSONCursor(bytes, from: hasMark ? JSON.byteOrderMark.count : 0)
        try check()
    }

    /// The first byte of what comes next, white space left out; `nil` at the end.
    mutating func peek() throws(StorageError) -> UInt8? {
        try read { (cursor) throws(JSONFault) in try cursor.skipSpace() }
        return cursor.current
    }

    /// Goes into the object, or the array, that comes next; `false` if something else does.
    mutating func enter(object isObject: Bool) throws(StorageError) -> Bool {
        _ = try peek()
        guard let level = cursor.enter(object: isObject) else { return false }
        levels.append(level)
        return true
    }

    /// Whether the innermost object or array has another member or element, which comes next. It is left if not.
    ///
    /// - Throws: `deserializationFailed` if something else comes.
    mutating func hasNext() throws(StorageError) -> Bool {
        guard var level = levels.popLast() else { throw malformed }
        guard try read({ (cursor) throws(JSONFault) in try cursor.hasNext(in: &level) }) else { return false }
        levels.append(level)
        let isItem = level.isObject ? cursor.isAt("\"") : cursor.current != nil && !cursor.isAt("]")
        guard isItem else { throw malformed }
        return true
    }

    /// The token of a member's name, with its quotes; its value comes next.
    mutating func name() throws(StorageError) -> Data {
        let name = try value()
        guard try peek() == UInt8(ascii: ":") else { throw malformed }
        cursor.position += 1
        return name
    }

    /// The text of the value that comes next.
    mutating func value() throws(StorageError) -> Data {
        _ = try peek()
        start = cursor.position
        let range = start..<(try endOfValue())
        cursor.position = range.upperBound
        let data = cursor.bytes.data(range)
        try check()
        return data
    }

    /// Throws unless all objects and arrays were left, and nothing follows.
    mutating func end() throws(StorageError) {
        guard levels.isEmpty, try peek() == nil else { throw malformed }
    }

    /// Whether what is around the next value is an object, or else an array; `nil` if nothing is.
    var isInObject: Bool? { levels.last?.isObject }

    /// What is wrong if something else is expected here.
    var malformed: StorageError { malformed(at: cursor.position) }

    /// The value that was read last.
    ///
    /// - Throws: `deserializationFailed` if it is not JSON, or an object in it has two members of one name.
    func decoded(_ text: Data) throws(StorageError) -> JSON {
        do throws(JSONFault) {
            if let value = try JSON.read(Array(text), deepest: ValueDocument.deepest) { return value }
        } catch {
            throw malformed(at: start + error.offset, error.reason)
        }
        throw malformed(at: start)
    }

    private func malformed(at offset: Int, _ reason: JSONFault.Reason? = nil) -> StorageError {
        var (line, column) = (1, 1)
        for index in 0..<offset {
            (line, column) = cursor.bytes.byte(at: index) == UInt8(ascii: "\n") ? (line + 1, 1) : (line, column + 1)
        }
        let expected = reason.map { ": expected \($0.rawValue)" } ?? ""
        return StorageError(
            .deserializationFailed, "\(document.name) is not valid JSON at line \(line), column \(column)\(expected)",
            hint: "correct it there; nothing was imported")
    }

    private func check() throws(StorageError) { if let failure = cursor.bytes.failure { throw failure } }

    private mutating func read<Result>(
        _ body: (inout JSONCursor<DocumentBytes>) throws(JSONFault) -> Result
    ) throws(StorageError) -> Result {
        let result: Result
        do throws(JSONFault) {
            result = try body(&cursor)
        } catch {
            try check()
            throw malformed(at: error.offset, error.reason)
        }
        try check()
        return result
    }

    /// Where the value ends that begins here.
    private func endOfValue() throws(StorageError) -> Int {
        let bytes = cursor.bytes
        var (end, depth) = (cursor.position, 0)
        repeat {
            guard let byte = bytes.byte(at: end) else { throw bytes.failure ?? malformed }
            end += 1
            switch byte {
            case UInt8(ascii: "\""):
                while let byte = bytes.byte(at: end), byte != UInt8(ascii: "\"") {
                    end += byte == UInt8(ascii: "\\") ? 2 : 1
                }
                guard bytes.byte(at: end) != nil else { throw bytes.failure ?? malformed }
                end += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: while depth == 0, let byte = bytes.byte(at: end), !Self.endsToken(byte) { end += 1 }
            }
        } while depth > 0
        try check()
        return end
    }

    private static func endsToken(_ byte: UInt8) -> Bool { " \n\r\t,:]}".utf8.contains(byte) }
}

/// The bytes of a document, a piece of which is in memory.
private final class DocumentBytes: JSONBytes {
    /// Why a piece could not be read.
    private(set) var failure: StorageError?
    private let document: InputDocument
    private var piece: [UInt8] = []
    private var start = 0

    init(_ document: InputDocument) { self.document = document }

    func byte(at offset: Int) -> UInt8? {
        let (here, index) = (piece, offset - start)
        if index >= 0, index < here.count { return here[index] }
        (piece, start) = (read(from: offset, 64 << 10), offset)
        return piece.first
    }

    func data(_ range: Range<Int>) -> Data {
        let isHere = range.lowerBound >= start && range.upperBound <= start + piece.count
        if isHere { return Data(piece[(range.lowerBound - start)..<(range.upperBound - start)]) }
        return Data(read(from: range.lowerBound, range.count))
    }

    /// That many bytes, or those that there are.
    private func read(from offset: Int, _ count: Int) -> [UInt8] {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { memory.deallocate() }
        var done = 0
        do throws(StorageError) {
            while done < count {
                let more = try document.read(
                    at: offset + done, into: UnsafeMutableRawBufferPointer(rebasing: memory[done...]))
                if more == 0 { break }
                done += more
            }
        } catch { failure = error }
        return Array(memory.prefix(done))
    }
}

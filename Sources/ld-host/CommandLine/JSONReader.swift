internal import FoundationEssentials
internal import LocalDataAPI

/// Reads a JSON text (RFC 8259) from its start, with memory for a piece of it or for the largest value that is asked
/// for.
///
/// What it hands out is the text as it is: in order, with every repeated name, and with names apart that are one text
/// to `String` but differ in their bytes. A decoder's dictionary silently keeps one of such members. It looks at what
/// stands between values; whether a value is one, its decoder says.
struct JSONReader {
    private struct Level {
        let isObject: Bool
        var isFirst = true
    }

    let document: InputDocument
    /// What was read and not handed out yet.
    private var buffer: [UInt8] = []
    private var position = 0
    private var offset = 0
    private var levels: [Level] = []

    /// - Throws: `fileError`.
    init(_ document: InputDocument) throws(StorageError) {
        self.document = document
        if try byte(0) == 0xEF, try byte(1) == 0xBB, try byte(2) == 0xBF { position += 3 }
    }

    /// The first byte of what comes next, white space left out; `nil` at the end.
    mutating func peek() throws(StorageError) -> UInt8? {
        while let byte = try byte(0) {
            guard Self.isSpace(byte) else { return byte }
            position += 1
        }
        return nil
    }

    /// Goes into the object, or the array, that comes next; `false` if something else does.
    mutating func enter(object isObject: Bool) throws(StorageError) -> Bool {
        guard try peek() == UInt8(ascii: isObject ? "{" : "[") else { return false }
        position += 1
        levels.append(Level(isObject: isObject))
        return true
    }

    /// Whether the innermost object or array has another member or element, which comes next. It is left if not.
    ///
    /// - Throws: `deserializationFailed` if something else comes.
    mutating func hasNext() throws(StorageError) -> Bool {
        guard let level = levels.last, var byte = try peek() else { throw malformed }
        let end = UInt8(ascii: level.isObject ? "}" : "]")
        if byte == end {
            position += 1
            levels.removeLast()
            return false
        }
        if !level.isFirst {
            guard byte == UInt8(ascii: ",") else { throw malformed }
            position += 1
            guard let next = try peek() else { throw malformed }
            byte = next
        }
        guard byte != end, !level.isObject || byte == UInt8(ascii: "\"") else { throw malformed }
        levels[levels.count - 1].isFirst = false
        return true
    }

    /// The token of a member's name, with its quotes; its value comes next.
    mutating func name() throws(StorageError) -> Data {
        let name = try value()
        guard try peek() == UInt8(ascii: ":") else { throw malformed }
        position += 1
        return name
    }

    /// The text of the value that comes next.
    mutating func value() throws(StorageError) -> Data {
        _ = try peek()
        let count = try length()
        defer { position += count }
        return Data(buffer[position..<(position + count)])
    }

    /// Throws unless all objects and arrays were left, and nothing follows.
    mutating func end() throws(StorageError) {
        guard levels.isEmpty, try peek() == nil else { throw malformed }
    }

    /// Whether what is around the next value is an object, or else an array; `nil` if nothing is.
    var isInObject: Bool? { levels.last?.isObject }

    var malformed: StorageError {
        StorageError(
            .deserializationFailed, "\(document.name) is not valid JSON", hint: "run: python3 -m json.tool FILE")
    }

    /// How many bytes the value has that comes next.
    private mutating func length() throws(StorageError) -> Int {
        var (count, depth) = (0, 0)
        repeat {
            switch try byte(count) {
            case UInt8(ascii: "\""): count = try endOfString(from: count)
            case UInt8(ascii: "{"), UInt8(ascii: "["): (count, depth) = (count + 1, depth + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): (count, depth) = (count + 1, depth - 1)
            case UInt8(ascii: ","), UInt8(ascii: ":"): count += 1
            case let byte? where Self.isSpace(byte): count += 1
            case nil: throw malformed
            default: while let byte = try byte(count), !Self.endsToken(byte) { count += 1 }
            }
        } while depth > 0
        return count
    }

    private mutating func endOfString(from start: Int) throws(StorageError) -> Int {
        var count = start + 1
        while let byte = try byte(count) {
            if byte == UInt8(ascii: "\"") { return count + 1 }
            count += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        throw malformed
    }

    /// A byte of what comes next; `nil` behind the end.
    private mutating func byte(_ index: Int) throws(StorageError) -> UInt8? {
        while position + index >= buffer.count { guard try fill() else { return nil } }
        return buffer[position + index]
    }

    private mutating func fill() throws(StorageError) -> Bool {
        buffer.removeFirst(position)
        position = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        let count = try document.read(at: offset, into: piece)
        buffer.append(contentsOf: piece.prefix(count))
        offset += count
        return count > 0
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private static func endsToken(_ byte: UInt8) -> Bool {
        isSpace(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "]")
            || byte == UInt8(ascii: "}")
    }

    private static let pieceSize = 64 << 10
}

internal import FoundationEssentials

/// The members of a JSON object as its text has them: in order, with every repeated name, and with names apart that
/// are one text to `String` but differ in their bytes. A decoder's dictionary silently keeps one of such members.
struct JSONMembers {
    /// The token of a name, with its quotes, and the text of its value.
    private(set) var members: [(name: Data, value: Data)] = []
    private let bytes: [UInt8]
    private var position = 0

    /// Finds the members.
    ///
    /// - Parameter object: Valid JSON (RFC 8259) whose value is an object.
    init(object: Data) {
        bytes = Array(object)
        skip { $0 != UInt8(ascii: "{") }
        position += 1
        skip { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "}") }
        while current == UInt8(ascii: "\"") {
            let name = token { $0.skipString() }
            skip { $0 != UInt8(ascii: ":") }
            position += 1
            skip(Self.isSpace)
            members.append((name, token { $0.skipValue() }))
            skip { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "}") }
        }
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private mutating func skip(_ condition: (UInt8) -> Bool) {
        while let byte = current, condition(byte) { position += 1 }
    }

    private mutating func token(_ skipped: (inout Self) -> Void) -> Data {
        let start = position
        skipped(&self)
        return Data(bytes[start..<min(position, bytes.count)])
    }

    private mutating func skipString() {
        position += 1
        while let byte = current, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        position += 1
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch current {
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): position += 1
            case let byte? where Self.isSpace(byte): position += 1
            case nil: return
            default: skip { !Self.isSpace($0) && !",:}]".utf8.contains($0) }
            }
        } while depth > 0
    }
}

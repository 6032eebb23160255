internal import Synchronization

/// Makes bytes safe for a terminal, piece by piece: control characters other than tab and line end are shown as escapes
/// such as `\u{1b}`. A value may be from anybody, and control characters can hide text, or type commands.
struct ControlFilter {
    /// Whether a character was replaced.
    private(set) var hasReplaced = false
    /// The first byte of a character whose second one is in the next piece: those of C1 begin with it.
    private var isHeld = false

    /// The bytes of a piece as the terminal gets them.
    mutating func filtered(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(piece.count + 1)
        for byte in piece {
            if isHeld {
                isHeld = false
                if (0x80..<0xa0).contains(byte) {
                    escape(byte, in: &result)
                    continue
                }
                result.append(Self.lead)
            }
            switch byte {
            case Self.lead: isHeld = true
            case UInt8(ascii: "\n"), UInt8(ascii: "\t"): result.append(byte)
            case 0..<0x20, 0x7f: escape(byte, in: &result)
            default: result.append(byte)
            }
        }
        return result
    }

    /// What is left after the last piece.
    mutating func rest() -> [UInt8] {
        defer { isHeld = false }
        return isHeld ? [Self.lead] : []
    }

    private mutating func escape(_ byte: UInt8, in result: inout [UInt8]) {
        hasReplaced = true
        result += "\\u{\(String(byte, radix: 16))}".utf8
    }

    /// The first byte of U+0080 to U+00BF in UTF-8.
    private static let lead: UInt8 = 0xc2
}

/// Writes a value, piece by piece: its bytes as they are, and on a terminal as ``ControlFilter`` makes them, with a
/// line end.
final class ValueWriter: Sendable {
    private let state = Mutex((filter: ControlFilter(), last: UInt8(ascii: "\n")))
    private let isTerminal = Output.isTerminal

    func write(_ piece: UnsafeRawBufferPointer) {
        guard isTerminal else { return Output.write(piece) }
        state.withLock { state in
            if let last = piece.last { state.last = last }
            state.filter.filtered(piece).withUnsafeBytes { Output.write($0) }
        }
    }

    func end() {
        guard isTerminal else { return }
        state.withLock { state in
            state.filter.rest().withUnsafeBytes { Output.write($0) }
            if state.last != UInt8(ascii: "\n") { Output.line("") }
            guard state.filter.hasReplaced else { return }
            Output.remark(
                "ld-host: control characters are shown as escapes; a file or a pipe gets the bytes as they are")
        }
    }
}

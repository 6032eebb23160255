internal import Synchronization

/// Makes bytes safe for a terminal, piece by piece: control characters other than tab and line end are shown as escapes
/// such as `\u{1b}`. A value may be from anybody, and control characters can hide text, or type commands.
struct ControlFilter {
    /// Whether a character was replaced.
    private(set) var hasReplaced = false
    /// The first byte of a character whose second one is in the next piece: those of C1 begin with it.
    private var isHeld = false

    /// Gives a piece to `write` as the terminal gets it. What is shown as it is goes there in place: a copy of a value
    /// would stay in memory.
    mutating func write(_ piece: UnsafeRawBufferPointer, to write: (UnsafeRawBufferPointer) -> Void) {
        // What was not written yet begins here.
        var start = 0
        for (index, byte) in piece.enumerated() {
            let isSecond = isHeld
            isHeld = byte == Self.lead
            let isEscaped: Bool
            // How many bytes before this one belong to its character, and to this piece.
            var length = 0
            if isSecond, (0x80..<0xa0).contains(byte) {
                isEscaped = true
                length = index > start ? 1 : 0
            } else {
                if isSecond, index == 0 { writeLead(to: write) }
                isEscaped = byte < 0x20 && !Self.shown.contains(byte) || byte == 0x7f
            }
            guard isEscaped else { continue }
            if index - length > start { write(UnsafeRawBufferPointer(rebasing: piece[start..<index - length])) }
            escape(byte, to: write)
            start = index + 1
        }
        // A first byte at the end is held: the next piece says what it begins.
        let end = isHeld ? piece.count - 1 : piece.count
        if end > start { write(UnsafeRawBufferPointer(rebasing: piece[start..<end])) }
    }

    /// Writes what is left after the last piece.
    mutating func end(_ write: (UnsafeRawBufferPointer) -> Void) {
        if isHeld { writeLead(to: write) }
        isHeld = false
    }

    private func writeLead(to write: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeBytes(of: Self.lead) { write($0) }
    }

    private mutating func escape(_ byte: UInt8, to write: (UnsafeRawBufferPointer) -> Void) {
        hasReplaced = true
        Array("\\u{\(String(byte, radix: 16))}".utf8).withUnsafeBytes { write($0) }
    }

    /// Control characters that do no harm.
    private static let shown = [UInt8(ascii: "\n"), UInt8(ascii: "\t")]
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
            state.filter.write(piece) { Output.write($0) }
        }
    }

    func end() {
        guard isTerminal else { return }
        state.withLock { state in
            state.filter.end { Output.write($0) }
            if state.last != UInt8(ascii: "\n") { Output.line("") }
            guard state.filter.hasReplaced else { return }
            Output.remark(
                "ld-host: control characters are shown as escapes; a file or a pipe gets the bytes as they are")
        }
    }
}

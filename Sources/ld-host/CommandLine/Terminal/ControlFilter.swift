internal import HostClients
internal import LocalDataHost
internal import Synchronization

/// Makes bytes safe for a terminal, piece by piece: characters that must not be shown, other than tab and line end,
/// become escapes such as `\u{1b}`, and bytes that are not UTF-8 ones such as `\x9b`. A value may be from anybody; such
/// characters can hide text, reverse it, or type commands, and a terminal of 8 bits takes `9b` for the start of one.
struct ControlFilter {
    /// Whether something was replaced.
    private(set) var hasReplaced = false
    /// The bytes of a character whose rest is in the next piece.
    private var held: [UInt8] = []

    /// Gives a piece to `write` as the terminal gets it. What is shown as it is goes there in place: a copy of a value
    /// would stay in memory.
    mutating func write(_ piece: UnsafeRawBufferPointer, to write: (UnsafeRawBufferPointer) -> Void) {
        var index = 0
        while !held.isEmpty, index < piece.count {
            if Self.continues(piece[index]) {
                held.append(piece[index])
                index += 1
            }
            if held.count == Self.length(held[0]) || index < piece.count && !Self.continues(piece[index]) {
                writeHeld(to: write)
            }
        }
        // What was not written yet begins here.
        var start = index
        while index < piece.count {
            let length = max(1, Self.length(piece[index]))
            let rest = UnsafeRawBufferPointer(rebasing: piece[index...].prefix(length))
            let count = 1 + rest.dropFirst().prefix(while: Self.continues).count
            let isCutOff = count < length && index + count == piece.count
            let character = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
            if isCutOff || !Self.isShown(character) {
                if index > start { write(UnsafeRawBufferPointer(rebasing: piece[start..<index])) }
                if isCutOff { held = Array(character) } else { escape(character, to: write) }
                start = index + count
            }
            index += count
        }
        if piece.count > start { write(UnsafeRawBufferPointer(rebasing: piece[start...])) }
    }

    /// Writes what is left after the last piece.
    mutating func end(_ write: (UnsafeRawBufferPointer) -> Void) {
        if !held.isEmpty { writeHeld(to: write) }
    }

    private mutating func writeHeld(to write: (UnsafeRawBufferPointer) -> Void) {
        let character = held
        held = []
        character.withUnsafeBytes { if Self.isShown($0) { write($0) } else { escape($0, to: write) } }
    }

    private mutating func escape(_ character: UnsafeRawBufferPointer, to write: (UnsafeRawBufferPointer) -> Void) {
        hasReplaced = true
        let text =
            if let scalar = Self.scalar(character) {
                "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                character.map { "\\x\($0 < 16 ? "0" : "")\(String($0, radix: 16))" }.joined()
            }
        Array(text.utf8).withUnsafeBytes { write($0) }
    }

    private static func isShown(_ character: UnsafeRawBufferPointer) -> Bool {
        guard let scalar = scalar(character) else { return false }
        return !PrintableText.isUnfit(scalar) || scalar == "\n" || scalar == "\t"
    }

    /// The character that the bytes are; `nil` if they are not UTF-8.
    private static func scalar(_ bytes: UnsafeRawBufferPointer) -> Unicode.Scalar? {
        String(validating: bytes, as: UTF8.self)?.unicodeScalars.first
    }

    private static func continues(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }

    /// How many bytes the character has that begins with one; 0 if none does.
    private static func length(_ first: UInt8) -> Int {
        switch first {
        case 0..<0x80: 1
        case 0xc2..<0xe0: 2
        case 0xe0..<0xf0: 3
        case 0xf0..<0xf5: 4
        default: 0
        }
    }
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

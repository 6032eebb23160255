extension JSON {
    /// The value as JSON without white space, members in their order, and numbers as they were written.
    package var text: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch content {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { writeCharacter(byte) { bytes.append($0) } }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Hands out a byte of a text as a string of JSON has it.
    package static func writeCharacter(_ byte: UInt8, _ append: (UInt8) -> Void) {
        func escape(_ text: String) { for byte in text.utf8 { append(byte) } }
        switch byte {
        case UInt8(ascii: "\""): escape("\\\"")
        case UInt8(ascii: "\\"): escape("\\\\")
        case 0x0A: escape("\\n")
        case 0x0D: escape("\\r")
        case 0x09: escape("\\t")
        case 0..<0x20: escape("\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))")
        default: append(byte)
        }
    }
}

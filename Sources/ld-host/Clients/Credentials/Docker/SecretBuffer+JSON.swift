internal import LocalDataHost

extension SecretBuffer {
    /// Appends UTF-8 text as a JSON string. `<`, `>` and `&` are escaped, as in the JSON that Docker's helpers write.
    func append(jsonString text: some Collection<UInt8>) {
        append("\"")
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\n"): append("\\n")
            case UInt8(ascii: "\r"): append("\\r")
            case UInt8(ascii: "\t"): append("\\t")
            case 0..<0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"):
                append("\\u00")
                append(contentsOf: [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]])
            default: append(contentsOf: CollectionOfOne(byte))
            }
        }
        append("\"")
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

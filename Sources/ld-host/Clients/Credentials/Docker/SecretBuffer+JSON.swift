internal import JSON
internal import LocalDataHost

extension SecretBuffer {
    /// Appends UTF-8 text as a JSON string. `<`, `>` and `&` are escaped, as in the JSON that Docker's helpers write.
    func append(jsonString text: some Collection<UInt8>) {
        append("\"")
        for byte in text {
            switch byte {
            case UInt8(ascii: "<"): append("\\u003c")
            case UInt8(ascii: ">"): append("\\u003e")
            case UInt8(ascii: "&"): append("\\u0026")
            default: JSON.writeCharacter(byte) { append(contentsOf: CollectionOfOne($0)) }
            }
        }
        append("\"")
    }
}

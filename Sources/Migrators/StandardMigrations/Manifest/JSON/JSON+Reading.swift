internal import JSON

extension JSON {
    /// How many values may be nested.
    static let deepest = 256

    /// The only value in a text: strictly (RFC 8259) with no second value of one name, as any other would have to be
    /// guessed or lost.
    static func parse(_ text: some Sequence<UInt8>) throws(JSONFault) -> JSON {
        let bytes = Array(text)
        guard let value = try read(bytes, deepest: deepest) else { throw JSONFault(.value, at: bytes.count) }
        return value
    }
}

extension JSONFault {
    /// What is wrong. It quotes nothing: the bytes may be a secret.
    var message: String {
        switch reason {
        case .depth: "expected at most \(JSON.deepest) nested values"
        case .newName: "a member is given twice"
        default: "expected \(reason.rawValue)"
        }
    }
}

/// A JSON value (RFC 8259) that loses nothing: numbers keep the text that they were written with, and members their
/// order.
indirect enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The text of a number, as the grammar has it.
    case number(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// What the value is, for messages, which never say the value: `a string`, `an object`.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Texts are compared byte for byte, so that two spellings of one character are two texts.
    static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

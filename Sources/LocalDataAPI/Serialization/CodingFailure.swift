/// Bytes that should be UTF-8 but are not.
struct TextFault: Error {}

/// Where and why coding failed, without the value, which may be a secret.
struct CodingFailure: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        description =
            switch error {
            case DecodingError.typeMismatch(let type, let context):
                "expected \(type) at \(Self.path(context.codingPath))"
            case DecodingError.valueNotFound(let type, let context): "no \(type) at \(Self.path(context.codingPath))"
            case DecodingError.keyNotFound(let key, let context):
                "no member '\(key.stringValue)' at \(Self.path(context.codingPath))"
            case DecodingError.dataCorrupted(let context): "not well formed at \(Self.path(context.codingPath))"
            case EncodingError.invalidValue(let value, let context):
                "a \(type(of: value)) at \(Self.path(context.codingPath)) cannot be encoded"
            case let fault as PropertyListFault: "it \(fault.message)"
            case is TextFault: "they are not UTF-8"
            default: "\(type(of: error))"
            }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "the top" : keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

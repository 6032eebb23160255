internal import FoundationEssentials
package import LocalDataAPI

extension ValueAttributes {
    /// Whether the value is recorded as text: what a person or another program stored.
    var isText: Bool {
        guard let contentType else { return false }
        return contentType.split(separator: ";").first == SerializerFormat.text.contentType[...]
    }

    /// The format that is recorded; `nil` if none is, or none that is known.
    package var format: SerializerFormat? {
        serializer.flatMap { SerializerFormat(rawValue: $0) } ?? (isText ? .text : nil)
    }
}

/// Text as JSON has it.
enum JSONText {
    /// The JSON string of a text in UTF-8; `nil` if it is not.
    static func string(_ text: Data) -> Data? {
        String(validating: text, as: UTF8.self).flatMap { try? Serializer<String>.json.encode($0) }
    }
}

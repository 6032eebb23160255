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

extension StorageRouter {
    /// A value as a key with the serializer `json` reads it: of one that is recorded as text, and is none of the key's
    /// values as it is, the JSON string.
    func asJSON(_ data: Data, of resolved: ResolvedKey, for key: AnyStorageKey) async throws -> Data {
        guard key.descriptor.serializer == .json, (try? key.check(data)) == nil,
            try await attributes(of: resolved)?.isText == true
        else { return data }
        return JSONText.string(data) ?? data
    }
}

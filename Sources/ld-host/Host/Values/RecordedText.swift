package import FoundationEssentials
package import LocalDataAPI

extension ValueAttributes {
    /// Whether the value is recorded as text, as a person or another program stored it.
    var isText: Bool {
        guard let contentType else { return false }
        return contentType.split(separator: ";").first == SerializerFormat.text.contentType[...]
    }

    /// The recorded format; `nil` if there is none, or an unknown one.
    package var format: SerializerFormat? {
        serializer.flatMap { SerializerFormat(rawValue: $0) } ?? (isText ? .text : nil)
    }
}

/// Text as JSON strings.
package enum JSONText {
    /// The JSON string for a text; `nil` if it is not UTF-8.
    static func string(_ text: Data) -> Data? {
        String(validating: text, as: UTF8.self).flatMap { try? Serializer<String>.json.encode($0) }
    }

    /// The text of a JSON string without escapes, whose bytes are its text; `nil` for anything else. Most strings have
    /// no escapes, so they need no decoder.
    package static func plain(_ json: Data) -> String? {
        let quote = UInt8(ascii: "\"")
        return json.withUnsafeBytes { bytes in
            guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
            let text = bytes[1..<(bytes.count - 1)]
            guard text.allSatisfy({ $0 >= 0x20 && $0 != quote && $0 != UInt8(ascii: "\\") }) else { return nil }
            return String(validating: text, as: UTF8.self)
        }
    }
}

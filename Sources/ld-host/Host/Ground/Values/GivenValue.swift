package import FoundationEssentials
internal import JSON
package import LocalDataAPI

/// A value from a person or another program, converted so that an app can read it.
///
/// | given as | key in no catalog | key in a catalog |
/// |---|---|---|
/// | `text` | stored and recorded as text | encoded by the type and the serializer |
/// | `json` | stored and recorded as JSON | checked, or encoded, by the type and the serializer |
/// | `data` | stored and recorded as bytes | the same |
/// | not stated | as `data` | treated as serialized bytes, which are checked |
package struct GivenValue: Sendable {
    /// The key, with the format to record beside the value.
    package let key: AnyStorageKey
    private let form: ValueForm?
    /// The type, if a catalog describes the key.
    private let type: DeclaredType?

    /// - Parameter form: `nil` for the bytes that an app would have stored.
    package init(for key: AnyStorageKey, as form: ValueForm?) {
        let descriptor = key.descriptor
        let isDescribed = descriptor.catalog != nil
        type = isDescribed ? DeclaredType(descriptor.valueType) : nil
        self.form = form
        switch form {
        case .data: self.key = [.data, .custom].contains(descriptor.serializer) ? key : key.recording(.data)
        case .text where !isDescribed: self.key = key.recording(.text)
        case .json where !isDescribed: self.key = key.recording(.json)
        default: self.key = key
        }
    }

    /// Whether its bytes are stored unread, so that they need not be in memory.
    package var isUnseen: Bool {
        form == .data || form == nil && (type == nil || [.data, .custom].contains(key.descriptor.serializer))
    }

    /// The bytes to store, in memory that is cleared. While a value is encoded, it is also in other memory.
    ///
    /// - Throws: What ``bytes(_:)-(Data)`` throws.
    package func bytes(_ given: SecretSlice) throws(StorageError) -> SecretSlice {
        let staysText = form == .text && type == nil || key.descriptor.serializer == .text && form != .json
        if isUnseen || staysText && given.isUTF8 { return given }
        var data = Data(given)
        defer { data.resetBytes(in: 0..<data.count) }
        var bytes = try bytes(data)
        defer { bytes.resetBytes(in: 0..<bytes.count) }
        let buffer = SecretBuffer()
        buffer.append(contentsOf: bytes)
        return buffer.slice
    }

    /// The bytes to store.
    ///
    /// - Throws: `serializationFailed` if it is not a value of the key, with what the key accepts; never the value.
    package func bytes(_ given: Data) throws(StorageError) -> Data {
        if isUnseen { return given }
        let format = key.descriptor.serializer
        switch (form, format) {
        case (.text, .custom), (.json, .custom):
            throw refusal("cannot be encoded: only the app has the key's serializer", "give its own bytes with --data")
        case (.text, .data), (.text, .text), (nil, .text):
            if String(validating: given, as: UTF8.self) != nil { return given }
            throw refusal("is not UTF-8, and text must be", "give other bytes with --data")
        case (.json, .text):
            if let text = DeclaredType.text(ofJSON: given) { return Data(text.utf8) }
            throw refusal("is not a JSON string", "the key keeps text: give it with --text")
        case (.json, .data): return try json(given)
        default: break
        }
        guard let type else { return try json(given) }
        let bytes =
            switch form {
            case .text: type.bytes(ofText: given, as: format)
            case .json: type.bytes(ofJSON: given, as: format)
            default: type.reads(given, as: format) ? given : nil
            }
        if let bytes { return bytes }
        let isMalformed = form == .json && !DeclaredType.isJSON(given)
        let article =
            isMalformed
            ? "\(Self.fault(in: Array(given)).what), and not of the type"
            : form == nil ? "is not \(format) of the type" : "is not of the type"
        let hint =
            format == .plist && !type.isKnown
            ? "give the property list itself with --file or --stdin"
            : "give \(type.accepted)\(form == nil ? " with --text" : "")"
        throw refusal("\(article) '\(type.name)', which the catalog '\(key.descriptor.catalog ?? "")' declares", hint)
    }

    private func json(_ given: Data) throws(StorageError) -> Data {
        if DeclaredType.isJSON(given) { return given }
        let (what, hint) = Self.fault(in: Array(given))
        throw refusal(what, hint)
    }

    /// Why bytes are no JSON that a program could read, and what to do; never a part of them.
    private static func fault(in bytes: [UInt8]) -> (what: String, hint: String) {
        let quotes = "put text in quotes, or give it without quotes with --text"
        func place(_ offset: Int) -> String {
            let (line, column) = JSONFault.place(of: offset, in: bytes)
            return "at line \(line), column \(column)"
        }
        if bytes.starts(with: JSON.byteOrderMark) {
            return ("is not valid JSON: it begins with a byte order mark", "leave the mark out")
        }
        do throws(JSONFault) {
            guard let value = try JSON.read(bytes, deepest: JSON.deepestDecoded) else {
                return ("is not valid JSON: it is empty", quotes)
            }
            guard let number = value.firstBeyondDouble else { return ("is not valid JSON", quotes) }
            return (
                "has a number out of range \(place(number.range.lowerBound)): JSON's numbers are read as 64-bit ones here",
                "give it as text, in quotes"
            )
        } catch {
            return ("is not valid JSON \(place(error.offset)): expected \(error.reason.rawValue)", quotes)
        }
    }

    private func refusal(_ what: String, _ hint: String) -> StorageError {
        StorageError(
            .serializationFailed, "the value for '\(key.descriptor.domain)/\(key.descriptor.name)' \(what)", hint: hint)
    }
}

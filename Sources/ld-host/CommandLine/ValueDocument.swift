internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Values as entries of a JSON document, and back, to the same bytes and the same format.
enum ValueDocument {
    /// What an entry stands for.
    struct Entry {
        fileprivate let data: Data
        fileprivate let form: ValueForm
        /// What the bytes are recorded as, whatever the key says.
        fileprivate var format: SerializerFormat?

        /// What is stored for a key, and the key with the format that is recorded beside it.
        ///
        /// - Throws: `serializationFailed` if it is no value of the key's.
        func stored(for key: AnyStorageKey) throws(StorageError) -> (key: AnyStorageKey, data: Data) {
            if let format { return (key.recording(format), data) }
            let given = GivenValue(for: key, as: form)
            return (given.key, try given.bytes(data))
        }
    }

    /// The members of an object that stands for bytes.
    private static let (json, text, base64, format) = ("$json", "$text", "$base64", "$format")

    /// The entry for a value: the JSON that it is, if writing that again gives the same bytes; its text or base64
    /// otherwise.
    ///
    /// - Parameter recorded: The format that is recorded beside the value. What the form of the entry does not say is a
    ///   member.
    static func entry(for data: Data, recorded: SerializerFormat?) -> JSONValue {
        let value = (try? JSONDecoder().decode(JSONValue.self, from: data)).flatMap {
            (try? serialized($0)) == data ? $0 : nil
        }
        let string = String(validating: data, as: UTF8.self).map { JSONValue.string($0) }
        let bytes = JSONValue.string(data.base64EncodedString())
        switch (recorded, value, string) {
        case (nil, let value?, _) where !isMarked(value): return value
        case (.json, let value?, _): return isMarked(value) ? .object([json: value]) : value
        case (nil, _, let string?), (.text, _, let string?): return .object([text: string])
        case (nil, _, nil), (.data, _, nil): return .object([base64: bytes])
        case (let recorded?, _, _):
            let member = value.map { (json, $0) } ?? string.map { (text, $0) } ?? (base64, bytes)
            return .object([member.0: member.1, format: .string(recorded.rawValue)])
        }
    }

    /// The same as bytes, whatever they are.
    static func bytes(_ data: Data, recorded: SerializerFormat?) -> JSONValue {
        var members = [base64: JSONValue.string(data.base64EncodedString())]
        if let recorded, recorded != .data { members[format] = .string(recorded.rawValue) }
        return .object(members)
    }

    /// The names, with `prefix` in front, and values in a document.
    ///
    /// - Parameter longest: The most bytes that a name may have.
    /// - Throws: `invalidAddress` or `deserializationFailed`, naming the file and the entry, before anything is stored.
    static func entries(
        in data: Data, from file: String, each path: String?, name field: String?, prefix: String = "",
        longest: Int = StorageAddress.longestName
    ) throws(StorageError) -> [(name: String, value: Entry)] {
        guard String(validating: data, as: UTF8.self) != nil else {
            throw StorageError(
                .deserializationFailed, "\(file) is not UTF-8, as JSON is",
                hint: "write bytes that are no text as {\"$base64\": \"...\"}")
        }
        let document: JSONValue
        do { document = try JSONDecoder().decode(JSONValue.self, from: data) } catch {
            let failure = failure(error, from: file)
            let isObject = data.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) } == UInt8(ascii: "{")
            // The entry's own error names it.
            if path == nil, isObject, !Self.isMalformed(error) { _ = try members(of: data, from: file) }
            throw failure
        }
        let entries: [(name: String, value: JSONValue)]
        if let path, let field {
            entries = try elements(of: document, at: path, named: field, in: file)
        } else {
            guard case .object = document else {
                throw StorageError(
                    .deserializationFailed, "\(file) holds \(document.kind); expected an object",
                    hint: "for an array use --each PATH --name FIELD")
            }
            entries = try members(of: data, from: file)
        }
        var names: Set<[UInt8]> = []
        var result: [(name: String, value: Entry)] = []
        for entry in entries {
            let name = prefix + entry.name
            guard !entry.name.isEmpty, name.utf8.count <= longest, !name.utf8.contains(0) else {
                throw StorageError(
                    .invalidAddress,
                    "\(file): the name '\(name.prefix(80))' is empty, too long or has a NUL; nothing was imported",
                    hint: "names have 1 to \(StorageAddress.longestName) bytes")
            }
            guard names.insert(Array(entry.name.utf8)).inserted else {
                throw StorageError(
                    .invalidAddress, "\(file): two entries are named '\(entry.name)'; nothing was imported",
                    hint: "name entries by a member that differs in each")
            }
            do { result.append((name, try read(entry.value))) } catch {
                throw StorageError(
                    error.code, "\(file): the entry '\(entry.name)' \(error.message); nothing was imported",
                    hint: error.hint)
            }
        }
        return result
    }

    /// The members of the object that a document is, by their text: a name that is given twice is there twice.
    private static func members(
        of data: Data, from file: String
    ) throws(StorageError) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        for member in JSONMembers(object: data).members {
            let name = try decoded(String.self, member.name, from: file)
            members.append((name, try decoded(JSONValue.self, member.value, from: file, entry: name)))
        }
        return members
    }

    private static func decoded<Value: Decodable>(
        _ type: Value.Type, _ data: Data, from file: String, entry: String? = nil
    ) throws(StorageError) -> Value {
        do { return try JSONDecoder().decode(type, from: data) } catch {
            throw failure(error, from: file, entry: entry)
        }
    }

    /// Whether a text is no JSON at all.
    private static func isMalformed(_ error: any Error) -> Bool {
        if case DecodingError.dataCorrupted = error { true } else { false }
    }

    private static func failure(_ error: any Error, from file: String, entry: String? = nil) -> StorageError {
        guard !isMalformed(error) else {
            return StorageError(
                .deserializationFailed, "\(file) is not valid JSON", hint: "run: python3 -m json.tool FILE")
        }
        // JSON itself sets numbers no limit; a text may have half of a character in an escape.
        let place = entry.map { "\(file): the entry '\($0)'" } ?? file
        return StorageError(
            .deserializationFailed,
            "\(place) has a number that is too large, or a text that is not Unicode; nothing was imported",
            hint: "write such values as text or base64: {\"$base64\": \"...\"}")
    }

    private static func elements(
        of document: JSONValue, at path: String, named field: String, in file: String
    ) throws(StorageError) -> [(name: String, value: JSONValue)] {
        let segments = path.isEmpty || path == "." ? [] : try ConfigurationPath(path).segments
        guard let value = document[segments], case .array(let elements) = value else {
            throw StorageError(
                .deserializationFailed, "\(file) has no array at '\(path)'",
                hint: "PATH names members from the top, separated by dots; . is the document itself")
        }
        var entries: [(name: String, value: JSONValue)] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let members) = element, let name = members[field]?.nameText else {
                throw StorageError(
                    .deserializationFailed,
                    "\(file): element \(index) of '\(path)' has no text or number in a member '\(field)'; "
                        + "nothing was imported")
            }
            entries.append((name, element))
        }
        return entries
    }

    private static func isMarked(_ value: JSONValue) -> Bool {
        guard case .object(let members) = value else { return false }
        let isAlone = members.count == 1 || members.count == 2 && members[format] != nil
        return isAlone && [json, text, base64].contains { members[$0] != nil }
    }

    /// What an entry stands for.
    static func read(_ value: JSONValue) throws(StorageError) -> Entry {
        guard case .object(let members) = value, isMarked(value) else {
            return Entry(data: try serialized(value), form: .json)
        }
        var named: SerializerFormat?
        if let name = members[format] {
            guard case .string(let name) = name, let known = SerializerFormat(rawValue: name) else {
                throw StorageError(
                    .deserializationFailed, "has a $format that is unknown",
                    hint: "use one of \(SerializerFormat.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            named = known
        }
        if let value = members[json] { return Entry(data: try serialized(value), form: .json, format: named) }
        if case .string(let string)? = members[text] {
            return Entry(data: Data(string.utf8), form: .text, format: named)
        }
        if case .string(let string)? = members[base64] {
            guard let data = Data(base64Encoded: string) else {
                throw StorageError(.deserializationFailed, "is marked $base64 and its text is not base64")
            }
            return Entry(data: data, form: .data, format: named)
        }
        return Entry(data: try serialized(value), form: .json)
    }

    private static func serialized(_ value: JSONValue) throws(StorageError) -> Data {
        guard value.isExact else {
            throw StorageError(
                .deserializationFailed, "has a whole number beyond 2^53, which would not be kept exactly",
                hint: "write it as text")
        }
        return Data(try value.serialized().utf8)
    }
}

extension JSONValue {
    /// Whether every number in it is what the text said, as far as a `Double` can tell.
    fileprivate var isExact: Bool {
        switch self {
        case .double(let number): number.magnitude < 0x1p53 || number.rounded() != number
        case .array(let elements): elements.allSatisfy(\.isExact)
        case .object(let members): members.values.allSatisfy(\.isExact)
        default: true
        }
    }

    fileprivate var nameText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }
}

internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI
internal import LocalDataHost

/// Values as entries of a JSON document, and back, to the same bytes and the same format.
enum ValueDocument {
    /// The value of an entry.
    struct Entry {
        fileprivate let data: Data
        fileprivate let form: ValueForm
        /// The format to record, in place of the key's.
        fileprivate var format: SerializerFormat?
        /// When the value expires, if it does.
        fileprivate(set) var expires: Date?

        /// Whether the value has expired by then: storing it would remove what is there.
        func hasExpired(by now: Date) -> Bool { expires.map { $0 <= now } ?? false }

        /// The bytes to store for a key, and the key with the format to record.
        ///
        /// - Throws: `serializationFailed` if it is no value of the key's.
        func stored(for key: AnyStorageKey) throws(StorageError) -> StoredEntry {
            if let format { return StoredEntry(key: key.recording(format), data: data, expires: expires) }
            let given = GivenValue(for: key, as: form)
            return StoredEntry(key: given.key, data: try given.bytes(data), expires: expires)
        }
    }

    /// An entry as it is stored.
    struct StoredEntry {
        let key: AnyStorageKey
        let data: Data
        let expires: Date?
    }

    /// The members of an object that stands for bytes.
    private static let (json, text, base64, format) = ("$json", "$text", "$base64", "$format")
    private static let expires = "$expires"

    /// The entry for a value: the JSON that it is, if writing that again gives the same bytes; its text or base64
    /// otherwise.
    ///
    /// - Parameter recorded: The format that is recorded beside the value. What the form of the entry does not say is a
    ///   member.
    /// - Parameter expires: When the value expires, in nanoseconds since 1970; a member says so, to the second.
    static func entry(for data: Data, recorded: SerializerFormat?, expires: Int64? = nil) -> JSON {
        guard let expires else { return entry(for: data, recorded) }
        let entry = entry(for: data, recorded)
        let time = (name: self.expires, value: JSON.string(UTCTime.text(expires)))
        guard let marked = marked(entry) else { return object([time, (json, entry)]) }
        return object(marked.members.map { ($0.name, $0.value) } + [time])
    }

    private static func entry(for data: Data, _ recorded: SerializerFormat?) -> JSON {
        let value = (try? JSON.read(Array(data), deepest: deepest)).flatMap { $0.text.elementsEqual(data) ? $0 : nil }
        let string = String(validating: data, as: UTF8.self).map { JSON.string($0) }
        let bytes = JSON.string(data.base64EncodedString())
        switch (recorded, value, string) {
        case (nil, let value?, _) where !isReserved(value): return value
        case (.json, let value?, _): return isReserved(value) ? object([(json, value)]) : value
        case (nil, _, let string?), (.text, _, let string?): return object([(text, string)])
        case (nil, _, nil), (.data, _, nil): return object([(base64, bytes)])
        case (let recorded?, _, _):
            let member = value.map { (json, $0) } ?? string.map { (text, $0) } ?? (base64, bytes)
            return object([member, (format, .string(recorded.rawValue))])
        }
    }

    /// The same as bytes, whatever they are.
    static func bytes(_ data: Data, recorded: SerializerFormat?, expires: Int64?) -> JSON {
        var members = [(name: base64, value: JSON.string(data.base64EncodedString()))]
        if let recorded, recorded != .data { members.append((format, .string(recorded.rawValue))) }
        if let expires { members.append((self.expires, .string(UTCTime.text(expires)))) }
        return object(members)
    }

    /// An object of members in the order of their names.
    private static func object(_ members: [(name: String, value: JSON)]) -> JSON {
        .object(JSONObject(members: members.sorted { $0.name < $1.name }.map { .init(name: $0.name, value: $0.value) }))
    }

    /// The object that a value is if it stands for bytes; `nil` for any other value.
    private static func marked(_ value: JSON) -> JSONObject? {
        guard case .object(let object) = value.content else { return nil }
        let beside = (object[format] == nil ? 0 : 1) + (object[expires] == nil ? 0 : 1)
        let isMarked = object.members.count == 1 + beside && [json, text, base64].contains { object[$0] != nil }
        return isMarked ? object : nil
    }

    /// Whether a value stands for bytes, or for nothing: all of its members begin as those do, and one says which.
    private static func isReserved(_ value: JSON) -> Bool {
        guard case .object(let object) = value.content else { return false }
        return [json, text, base64].contains { object[$0] != nil }
            && object.members.allSatisfy { $0.name.hasPrefix("$") }
    }

    /// How deep values may be nested.
    static let deepest = 512

    /// The value of an entry.
    static func read(_ value: JSON) throws(StorageError) -> Entry {
        guard let object = marked(value) else {
            // A member that is misspelled is not stored as a part of the value.
            guard !isReserved(value) else {
                throw StorageError(
                    .deserializationFailed,
                    "has one of \(json), \(text) and \(base64), and beside it what stands for nothing",
                    hint: "it may have \(format) and \(expires); an object that is the value is {\"\(json)\": {...}}")
            }
            return Entry(data: Data(value.text), form: .json)
        }
        var entry = try readBytes(of: value, object)
        entry.expires = try date(object[expires])
        return entry
    }

    private static func date(_ value: JSON?) throws(StorageError) -> Date? {
        guard let value else { return nil }
        guard case .string(let text) = value.content, let date = UTCTime.date(text) else {
            throw StorageError(
                .deserializationFailed, "has an $expires that is not a time",
                hint: "write it like 2030-01-31T12:00:00Z")
        }
        guard date <= .latestStored else {
            throw StorageError(
                .deserializationFailed, "has an $expires that is too late: '\(text)'",
                hint: "use a time up to \(WriteTerms.latestStored), or leave it out")
        }
        return date
    }

    private static func readBytes(of value: JSON, _ object: JSONObject) throws(StorageError) -> Entry {
        var named: SerializerFormat?
        if let name = object[format] {
            guard case .string(let name) = name.content, let known = SerializerFormat(rawValue: name) else {
                throw StorageError(
                    .deserializationFailed, "has a $format that is unknown",
                    hint: "use one of \(SerializerFormat.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            named = known
        }
        if let value = object[json] { return Entry(data: Data(value.text), form: .json, format: named) }
        if case .string(let string)? = object[text]?.content {
            return Entry(data: Data(string.utf8), form: .text, format: named)
        }
        if case .string(let string)? = object[base64]?.content {
            guard let data = Data(base64Encoded: string) else {
                throw StorageError(.deserializationFailed, "is marked $base64 and its text is not base64")
            }
            return Entry(data: data, form: .data, format: named)
        }
        return Entry(data: Data(value.text), form: .json)
    }
}

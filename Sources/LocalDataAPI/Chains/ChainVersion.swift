#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One type of a chain: how its values are known, read and written.
struct ChainVersion: Sendable {
    let id: ObjectIdentifier
    /// The type's name, for messages.
    let name: String
    /// The same with the types that it is nested in: two types of a chain may have one name.
    let fullName: String
    /// What its values are stored with.
    let tag: String
    /// The members that its values have, as far as they are known.
    let members: TypeMembers?
    /// Reads a value, however the rest of the bytes looks.
    let decode: @Sendable (Data, ChainCoding) throws(StorageError) -> any Sendable
    /// What the type makes of bytes that it decodes; `nil` if their format has no structure.
    let evidence: @Sendable (Data, ChainCoding) throws(StorageError) -> ChainEvidence?

    init<Value: Codable & Sendable>(_ type: Value.Type, tag: String?, _ own: Serializer<Value>?) {
        id = ObjectIdentifier(type)
        name = String(describing: type)
        fullName = VersionTag.fullName(of: type)
        self.tag = tag ?? VersionTag.of(type)
        members = own == nil ? TypeMembers(of: type) : nil
        @Sendable func serializer(_ coding: ChainCoding) throws(StorageError) -> Serializer<Value> {
            if let own { return own }
            return try coding.serializer(of: type)
        }
        decode = { (data, coding) throws(StorageError) in try serializer(coding).decode(data) }
        evidence = { (data, coding) throws(StorageError) in
            let serializer = try serializer(coding)
            guard let given = try? ValueTree.read(data, as: serializer.format) else { return nil }
            let value = try serializer.decode(data)
            guard let written = try? serializer.encode(value),
                let again = try? ValueTree.read(written, as: serializer.format)
            else { return ChainEvidence() }
            return ChainEvidence(of: given, again)
        }
    }
}

/// The codec of a key, for the other types of its chain.
struct ChainCoding: Sendable {
    private let format: SerializerFormat
    private let coders: JSONCoders?

    init<Value>(_ serializer: Serializer<Value>) {
        format = serializer.format
        coders = serializer.coders
    }

    /// The serializer of another type in the same format.
    ///
    /// - Throws: `unsupported` for formats that know only the key's own type.
    func serializer<Value: Codable & Sendable>(of type: Value.Type) throws(StorageError) -> Serializer<Value> {
        switch format {
        case .json: return coders.map { .json(encoder: $0.encoder, decoder: $0.decoder) } ?? .json
        case .plist: return .plist
        case .text: if let text = Serializer<String>.text as? Serializer<Value> { return text }
        case .data: if let data = Serializer<Data>.data as? Serializer<Value> { return data }
        case .custom: break
        }
        throw StorageError(
            .unsupported, "the format '\(format)' of the key cannot read \(withArticle(type))",
            hint: "register \(type) with a serializer of its own")
    }
}

/// What a value of a chain is stored with, so that its type is known without trying.
enum VersionTag {
    /// A type's name with the types that it is nested in, without its module.
    static func fullName(of type: Any.Type) -> String {
        let name = String(reflecting: type)
        guard !name.contains("<") else { return String(describing: type) }
        // A private namespace is in an `(unknown context at $1a2b3c)`.
        return name.split(separator: ".").dropFirst().filter { !$0.hasPrefix("(") }.joined(separator: ".")
    }

    /// The tag of a type: its version if it says one, and its name otherwise.
    static func of(_ type: Any.Type) -> String {
        if let type = type as? any VersionedValue.Type { return "\(type.version)" }
        return String(describing: type)
    }
}

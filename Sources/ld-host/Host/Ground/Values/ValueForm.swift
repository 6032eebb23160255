internal import JSON
package import LocalDataAPI

/// How a person or program without the Swift type passes a value.
package enum ValueForm: String, CaseIterable, Codable, Sendable {
    /// UTF-8 text, as a person types it.
    case text
    /// JSON (RFC 8259).
    case json
    /// Raw bytes.
    case data
}

extension JSON {
    /// The first number that is too large for a `Double`.
    var firstBeyondDouble: JSON? {
        switch content {
        case .number(let text): Double(text).map(\.isFinite) == true ? nil : self
        case .array(let elements): elements.lazy.compactMap(\.firstBeyondDouble).first
        case .object(let object): object.members.lazy.compactMap(\.value.firstBeyondDouble).first
        case .null, .bool, .string: nil
        }
    }
}

extension AnyStorageKey {
    /// The key for values in a format other than its own.
    package func recording(_ format: SerializerFormat) -> AnyStorageKey {
        let known = descriptor
        guard format != known.serializer else { return self }
        let descriptor = StorageKeyDescriptor(
            name: known.name, domain: known.domain, security: known.security, serializer: format,
            valueType: known.valueType, owner: known.owner, description: known.description,
            availability: known.availability, syncPolicy: known.syncPolicy, lifetime: known.lifetime,
            catalog: known.catalog)
        return undeclared.map { AnyStorageKey(descriptor, undeclared: $0) } ?? AnyStorageKey(descriptor)
    }
}

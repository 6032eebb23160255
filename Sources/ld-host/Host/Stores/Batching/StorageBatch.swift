public import FoundationEssentials
public import LocalDataAPI

/// Changes that take effect together; see ``StorageRouter/batch(_:)``.
public struct StorageBatch: Sendable {
    package struct Change: Sendable {
        package let key: KeyReference
        /// The key itself, if it has its own migration or versions.
        private let own: AnyStorageKey?
        private let valueType: ValueType
        /// The serialized value, or `nil` to remove it.
        package let value: Data?
        /// When the value expires; by default after the key's lifetime, if it has one.
        package let expires: Date?

        private enum ValueType {
            case type(any (Codable & Sendable).Type)
            case name(String)
        }

        init<Value>(_ key: StorageKey<Value>, value: Data?, expires: Date? = nil) {
            self.expires = expires
            self.key = KeyReference(key)
            own = key.hasMigration || key.isChained ? AnyStorageKey(key) : nil
            valueType = .type(Value.self)
            self.value = value
        }

        init(_ key: AnyStorageKey, value: Data?, expires: Date? = nil) {
            self.expires = expires
            self.key = KeyReference(key)
            own = key.hasMigration || key.chain != nil ? key : nil
            valueType = .name(key.descriptor.valueType)
            self.value = value
        }

        /// Whether the key has its own migration.
        package var hasMigration: Bool { own?.hasMigration == true }

        /// The key, if it has versions.
        package var chainedKey: AnyStorageKey? { own?.chain == nil ? nil : own }

        /// The key with its migration. It is created only when older data may exist, because batches have many keys.
        package var wholeKey: AnyStorageKey {
            if let own { return own }
            let name =
                switch valueType {
                case .type(let type): String(describing: type)
                case .name(let name): name
                }
            let descriptor = StorageKeyDescriptor(
                name: key.name, domain: key.domain, security: key.security, serializer: key.serializer, valueType: name,
                owner: key.owner, description: "", availability: key.availability)
            return key.place.map { AnyStorageKey(descriptor, at: $0) } ?? AnyStorageKey(descriptor)
        }
    }

    /// In the order in which they were added.
    package private(set) var changes: [Change] = []

    /// An empty batch.
    public init() {}

    /// The number of changes.
    public var count: Int { changes.count }

    /// Stores a value, replacing the old one.
    ///
    /// - Parameter expires: When the value expires; by default after the key's `lifetime`, if it has one.
    /// - Throws: `serializationFailed`.
    public mutating func set<Value>(_ value: Value, for key: StorageKey<Value>, expires: Date? = nil) throws {
        changes.append(Change(key, value: try key.encode(value), expires: expires))
    }

    /// Removes a value; removing an absent value is fine.
    public mutating func remove<Value>(_ key: StorageKey<Value>) {
        changes.append(Change(key, value: nil))
    }

    /// Stores serialized bytes, replacing the old ones.
    ///
    /// - Parameter expires: When the value expires; by default after the key's `lifetime`, if it has one.
    public mutating func setData(_ data: Data, for key: AnyStorageKey, expires: Date? = nil) {
        changes.append(Change(key, value: data, expires: expires))
    }

    /// Removes a value; removing an absent value is fine.
    public mutating func remove(_ key: AnyStorageKey) {
        changes.append(Change(key, value: nil))
    }
}

public import FoundationEssentials
public import LocalDataAPI

/// Changes that take effect together; see ``StorageRouter/batch(_:)``.
public struct StorageBatch: Sendable {
    struct Change: Sendable {
        let key: KeyReference
        /// The key itself, if it has a migration of its own.
        private let migrating: AnyStorageKey?
        private let valueType: ValueType
        /// The serialized value, or `nil` to remove it.
        let value: Data?

        private enum ValueType {
            case type(any (Codable & Sendable).Type)
            case name(String)
        }

        init<Value>(_ key: StorageKey<Value>, value: Data?) {
            self.key = KeyReference(key)
            migrating = key.hasMigration ? AnyStorageKey(key) : nil
            valueType = .type(Value.self)
            self.value = value
        }

        init(_ key: AnyStorageKey, value: Data?) {
            self.key = KeyReference(key)
            migrating = key.hasMigration ? key : nil
            valueType = .name(key.descriptor.valueType)
            self.value = value
        }

        /// Whether the key has a migration of its own.
        var hasMigration: Bool { migrating != nil }

        /// All of the key that counts for older data. It is made for the few that there may be some of: batches have
        /// many keys.
        var wholeKey: AnyStorageKey {
            if let migrating { return migrating }
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

    /// In the order of their making.
    private(set) var changes: [Change] = []

    /// A batch without changes.
    public init() {}

    /// How many changes there are.
    public var count: Int { changes.count }

    /// Stores a value in place of what is there.
    ///
    /// - Throws: `serializationFailed`.
    public mutating func set<Value>(_ value: Value, for key: StorageKey<Value>) throws {
        changes.append(Change(key, value: try key.serializer.encode(value)))
    }

    /// Removes a value; fine if there is none.
    public mutating func remove<Value>(_ key: StorageKey<Value>) {
        changes.append(Change(key, value: nil))
    }

    /// Stores serialized bytes in place of what is there.
    public mutating func setData(_ data: Data, for key: AnyStorageKey) {
        changes.append(Change(key, value: data))
    }

    /// Removes a value; fine if there is none.
    public mutating func remove(_ key: AnyStorageKey) {
        changes.append(Change(key, value: nil))
    }
}

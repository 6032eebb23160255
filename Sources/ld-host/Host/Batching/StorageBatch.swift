public import FoundationEssentials
public import LocalDataAPI

/// Changes that take effect together; see ``StorageRouter/batch(_:)``.
public struct StorageBatch: Sendable {
    struct Change: Sendable {
        let key: KeyReference
        /// Whether the key has a migration of its own.
        let hasMigration: Bool
        /// The key itself, for the few that older data may be brought to.
        let whole: @Sendable () -> AnyStorageKey
        /// The serialized value, or `nil` to remove it.
        let value: Data?

        init<Value>(_ key: StorageKey<Value>, value: Data?) {
            self.key = KeyReference(key)
            hasMigration = key.hasMigration
            whole = { AnyStorageKey(key) }
            self.value = value
        }

        init(_ key: AnyStorageKey, value: Data?) {
            self.key = KeyReference(key)
            hasMigration = key.hasMigration
            whole = { key }
            self.value = value
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

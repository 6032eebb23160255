public import FoundationEssentials
public import LocalDataAPI

/// Changes that take effect together; see ``StorageRouter/batch(_:)``.
public struct StorageBatch: Sendable {
    struct Change: Sendable {
        let key: KeyReference
        /// The serialized value, or `nil` to remove it.
        let value: Data?
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
        changes.append(Change(key: KeyReference(key), value: try key.serializer.encode(value)))
    }

    /// Removes a value; fine if there is none.
    public mutating func remove<Value>(_ key: StorageKey<Value>) {
        changes.append(Change(key: KeyReference(key), value: nil))
    }

    /// Stores serialized bytes in place of what is there.
    public mutating func setData(_ data: Data, for key: AnyStorageKey) {
        changes.append(Change(key: KeyReference(key), value: data))
    }

    /// Removes a value; fine if there is none.
    public mutating func remove(_ key: AnyStorageKey) {
        changes.append(Change(key: KeyReference(key), value: nil))
    }
}

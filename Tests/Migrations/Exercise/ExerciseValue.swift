internal import FoundationEssentials
internal import LocalDataAPI

/// A value that is stored under a key.
struct ExerciseValue: Sendable {
    let key: AnyStorageKey
    let data: Data

    init<Value>(_ key: StorageKey<Value>, _ value: Value) throws(StorageError) {
        self.key = AnyStorageKey(key)
        data = try key.serializer.encode(value)
    }

    /// The key's address, as the ledger says it.
    var address: String { key.exerciseAddress }
}

extension AnyStorageKey {
    /// The address, as the ledger says it.
    var exerciseAddress: String { "\(descriptor.domain)/\(descriptor.name)" }
}

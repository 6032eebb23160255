internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// A key that is the destination of a migration, without its type.
struct ExerciseDestination: Sendable {
    let key: AnyStorageKey
    /// Reads the value like an app, serialized.
    let get: @Sendable (StorageRouter) async throws -> Data
    /// The ledger's records of the key.
    let history: @Sendable (StorageRouter) async throws -> [MigrationRecord]

    init<Value>(_ key: StorageKey<Value>) {
        self.key = AnyStorageKey(key)
        get = { try key.serializer.encode(try await $0.get(key)) }
        history = { try await $0.migrationHistory(for: key) }
    }
}

internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// A key that a migration brings data to, without its type.
struct ExerciseDestination: Sendable {
    let key: AnyStorageKey
    /// What an app gets that asks for the value, serialized.
    let get: @Sendable (StorageRouter) async throws -> Data
    /// What the ledger says.
    let history: @Sendable (StorageRouter) async throws -> [MigrationRecord]

    init<Value>(_ key: StorageKey<Value>) {
        self.key = AnyStorageKey(key)
        get = { try key.serializer.encode(try await $0.get(key)) }
        history = { try await $0.migrationHistory(for: key) }
    }
}

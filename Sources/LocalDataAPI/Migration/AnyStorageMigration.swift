/// A migration without its type, for keys and lists.
public struct AnyStorageMigration: Sendable {
    /// What is known of the key that the data comes to.
    public let destinationDescriptor: StorageKeyDescriptor

    private let condition: @Sendable (any StorageProviding, MigrationContext) async throws -> Bool
    private let action: @Sendable (any StorageProviding, MigrationContext) async throws -> MigrationResult

    /// Forgets the type of a migration.
    public init(_ migration: some StorageMigration) {
        destinationDescriptor = .from(migration.destinationKey)
        condition = { try await migration.shouldMigrate(using: $0, context: $1) }
        action = { try await migration.migrate(using: $0, context: $1) }
    }

    /// Whether there is something to do.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await condition(router, context)
    }

    /// Does it.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        try await action(router, context)
    }
}

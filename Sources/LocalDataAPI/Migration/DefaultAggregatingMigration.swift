/// An aggregating migration that calls a function.
public struct DefaultAggregatingMigration<Value: Codable & Sendable>: AggregatingMigration {
    /// The destination.
    public let destinationKey: StorageKey<Value>
    /// Where the data comes from.
    public let sourceKeys: [AnyStorageKey]
    /// See ``StorageMigration/revision``.
    public let revision: Int
    /// See ``StorageMigration/dependencies``.
    public let dependencies: [String]
    /// See ``StorageMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy

    private let function: @Sendable (MigrationSources) async throws -> Value

    /// Declares a migration.
    public init(
        destinationKey: StorageKey<Value>, sourceKeys: [AnyStorageKey], revision: Int = 1,
        dependencies: [String] = [], conflictPolicy: MigrationConflictPolicy = .keepDestination,
        aggregate: @escaping @Sendable (MigrationSources) async throws -> Value
    ) {
        self.destinationKey = destinationKey
        self.sourceKeys = sourceKeys
        self.revision = revision
        self.dependencies = dependencies
        self.conflictPolicy = conflictPolicy
        function = aggregate
    }

    /// Calls the function.
    public func aggregate(_ sources: MigrationSources) async throws -> Value { try await function(sources) }
}

/// A transforming migration that calls a function.
///
/// ```swift
/// migration: { key in
///     AnyStorageMigration(
///         DefaultTransformingMigration(destinationKey: key, sourceKey: .profileV1) { ProfileV2(upgrading: $0) })
/// }
/// ```
public struct DefaultTransformingMigration<Source: Codable & Sendable, Value: Codable & Sendable>:
    TransformingMigration
{
    /// The destination.
    public let destinationKey: StorageKey<Value>
    /// Where the data comes from.
    public let sourceKey: StorageKey<Source>
    /// See ``StorageMigration/revision``.
    public let revision: Int
    /// See ``StorageMigration/dependencies``.
    public let dependencies: [String]
    /// See ``StorageMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy

    private let function: @Sendable (Source) async throws -> Value

    /// Declares a migration.
    public init(
        destinationKey: StorageKey<Value>, sourceKey: StorageKey<Source>, revision: Int = 1,
        dependencies: [String] = [], conflictPolicy: MigrationConflictPolicy = .keepDestination,
        transform: @escaping @Sendable (Source) async throws -> Value
    ) {
        self.destinationKey = destinationKey
        self.sourceKey = sourceKey
        self.revision = revision
        self.dependencies = dependencies
        self.conflictPolicy = conflictPolicy
        function = transform
    }

    /// Calls the function.
    public func transform(_ source: Source) async throws -> Value { try await function(source) }
}

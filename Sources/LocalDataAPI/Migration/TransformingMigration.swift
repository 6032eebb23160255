/// A migration that turns the value of one source into a value of another type.
public protocol TransformingMigration: StorageMigration {
    /// The type of the source's value.
    associatedtype SourceValue: Codable & Sendable

    /// Where the data comes from; read with its own serializer.
    var sourceKey: StorageKey<SourceValue> { get }

    /// The value for the destination.
    func transform(_ source: SourceValue) async throws -> Value
}

extension TransformingMigration {
    /// The source.
    public var sources: [AnyStorageKey] { [.key(sourceKey)] }

    /// Whether the source has data.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(sourceKey)
    }

    /// Reads the source, transforms, writes the destination and removes the source.
    ///
    /// - Throws: `transformationFailed` with what `transform` threw. Errors of reading and writing pass through.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        let source = try await router.get(sourceKey)
        let value: Value
        do { value = try await transform(source) } catch {
            throw MigrationError(
                .transformationFailed, "'\(sourceKey.domain)/\(sourceKey.name)' could not be transformed: \(error)",
                underlying: error as? StorageError)
        }
        try await router.remove(sourceKey)
        try await router.set(value, for: destinationKey)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

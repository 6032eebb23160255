/// Moves one value to a key with another name, domain, policy or serializer.
public struct SimpleLegacyMigration<Value: Codable & Sendable>: StorageMigration {
    /// The destination.
    public let destinationKey: StorageKey<Value>
    /// Where the data comes from; read with its own serializer.
    public let sourceKey: AnyStorageKey
    /// See ``StorageMigration/revision``.
    public let revision: Int
    /// See ``StorageMigration/dependencies``.
    public let dependencies: [String]
    /// See ``StorageMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy

    /// Declares a migration.
    public init(
        destinationKey: StorageKey<Value>, sourceKey: AnyStorageKey, revision: Int = 1, dependencies: [String] = [],
        conflictPolicy: MigrationConflictPolicy = .keepDestination
    ) {
        self.destinationKey = destinationKey
        self.sourceKey = sourceKey
        self.revision = revision
        self.dependencies = dependencies
        self.conflictPolicy = conflictPolicy
    }

    /// The destination's address and the source's.
    public var id: String {
        let source = sourceKey.descriptor
        return "\(destinationKey.domain)/\(destinationKey.name) from \(source.domain)/\(source.name)"
    }

    /// The source.
    public var sources: [AnyStorageKey] { [sourceKey] }

    /// Whether the source has data.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(sourceKey)
    }

    /// Writes the source's value to the destination and removes the source.
    ///
    /// A value of more than 1 MiB that keeps its type and serializer is copied in pieces if both stores stream;
    /// otherwise it must fit in memory.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        if keepsBytes, let transaction = router as? any MovingTransaction,
            try await transaction.move(sourceKey, to: .key(destinationKey))
        {
            return moved(context)
        }
        guard let data = try await router.data(for: sourceKey) else {
            let source = sourceKey.descriptor
            throw MigrationError(.sourceDataNotFound, "'\(source.domain)/\(source.name)' is not stored")
        }
        let value = try sourceKey.value(Value.self, from: data)
        try await router.remove(sourceKey)
        try await router.set(value, for: destinationKey)
        return moved(context)
    }

    /// A moved value keeps the version of the app that wrote it.
    private func moved(_ context: MigrationContext) -> MigrationResult {
        MigrationResult(
            success: true, migratedCount: 1,
            metadata: context.dataVersion.map { ["dataVersion": AnyCodable(.string($0))] } ?? [:])
    }

    /// Whether the value has the same bytes at the destination as in the source.
    private var keepsBytes: Bool {
        let (old, new) = (sourceKey.descriptor, StorageKeyDescriptor.from(destinationKey))
        return old.serializer == new.serializer && new.serializer != .custom && old.valueType == new.valueType
    }

    /// Checks that the source has the same type and is not better protected.
    public func validate() throws(MigrationError) {
        try MigrationUtils.validateCompatibility(from: sourceKey.descriptor, to: .from(destinationKey))
    }
}

/// A transaction that can move a large value without loading it into memory, and keep the expiry of one that moves.
package protocol MovingTransaction: StorageTransaction {
    /// Moves a value whose bytes do not change, if it is large enough.
    ///
    /// - Returns: Whether it moves the value; if not, nothing has been done.
    func move(_ source: AnyStorageKey, to destination: AnyStorageKey) async throws -> Bool

    /// The key under which a value was stored before this transaction, which may have moved it; `nil` if it is new.
    func origin(of key: AnyStorageKey) async throws -> AnyStorageKey?

    /// Notes where a value that was set had been stored, so that it expires as before. A new one, with `nil`, does not
    /// expire, whatever else is removed.
    func setOrigin(of key: AnyStorageKey, to source: AnyStorageKey?) async throws
}

internal import LocalDataAPI

/// Brings a value from where it was before its key's domain, directory or sub-directory was changed.
struct FormerPlaceMigration: UntypedMigration {
    let source: AnyStorageKey
    /// Where the key is now.
    let place: StorageNamespace
    let destination: AnyStorageKey
    /// Whether the former place keeps its value.
    let isCopy: Bool
    var conflictPolicy = MigrationConflictPolicy.keepDestination

    /// Where the value comes from.
    private var former: String { "\(source.place ?? place)/\(source.descriptor.name)" }

    var id: String { "moved from \(former)" }
    var origin: MigrationOrigin { .formerPlace }
    var summary: String { "The key's place was changed from \(source.place ?? place) to \(place)." }
    var sources: [AnyStorageKey] { [source] }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(source)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        let transaction = router as? any MovingTransaction
        if !isCopy, let transaction, try await transaction.move(source, to: destination) {
            return MigrationResult(success: true, migratedCount: 1)
        }
        guard let data = try await router.data(for: source) else {
            throw MigrationError(.sourceDataNotFound, "'\(former)' is not stored")
        }
        if destination.chain != nil {
            // The value keeps its version, and the chain brings it to the current one.
            try await router.setData(
                data, versionTag: try await router.attributes(of: source)?.versionTag, for: destination)
        } else {
            try await router.setData(data, for: destination)
        }
        if let transaction { try await transaction.setOrigin(of: destination, to: source) }
        if !isCopy { try await router.remove(source) }
        return MigrationResult(success: true, migratedCount: 1)
    }

    /// - Throws: `incompatibleTypes` if what was written was of another type or serializer; `validationFailed` if the
    ///   value would be less protected than it is.
    func validate() throws(MigrationError) {
        let (old, new) = (source.descriptor, destination.descriptor)
        // A chain finds out itself which of its types the value has.
        let isKnown = destination.chain == nil && !old.valueType.isEmpty
        guard !isKnown || old.valueType == new.valueType && old.serializer == new.serializer else {
            throw MigrationError(
                .incompatibleTypes,
                "'\(former)' was written as \(old.valueType) (\(old.serializer)), and the key is now \(new.valueType) "
                    + "(\(new.serializer)); declare a migration that transforms it")
        }
        try MigrationUtils.validateCompatibility(from: old, to: new, allowingOtherTypes: destination.chain != nil)
    }
}

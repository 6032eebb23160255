/// A migration that combines the values of several sources into one.
public protocol AggregatingMigration: StorageMigration {
    /// Where the data comes from; each is read with its own serializer.
    var sourceKeys: [AnyStorageKey] { get }

    /// The value for the destination. Called if at least one source has data.
    func aggregate(_ sources: MigrationSources) async throws -> Value
}

extension AggregatingMigration {
    /// The sources.
    public var sources: [AnyStorageKey] { sourceKeys }

    /// Whether any source has data.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        for source in sourceKeys where try await router.exists(source) { return true }
        return false
    }

    /// Reads all sources, aggregates, writes the destination and removes the sources.
    ///
    /// - Throws: `aggregationFailed` with the source that cannot be decoded, or with what `aggregate` threw. Errors of
    ///   reading and writing pass through.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        var found: [MigrationSources.Source] = []
        for key in sourceKeys {
            guard let data = try await router.data(for: key) else { continue }
            do throws(StorageError) {
                found.append(MigrationSources.Source(key: key, data: data, value: try key.anyValue(from: data)))
            } catch {
                throw MigrationError(
                    .aggregationFailed, "a source could not be read: \(error.message)", underlying: error)
            }
        }
        guard !found.isEmpty else { throw MigrationError(.sourceDataNotFound, "none of the sources has data") }
        let value: Value
        do { value = try await aggregate(MigrationSources(found)) } catch {
            throw MigrationError(
                .aggregationFailed, "the sources could not be combined: \(error)",
                underlying: error as? StorageError)
        }
        for source in found { try await router.remove(source.key) }
        try await router.set(value, for: destinationKey)
        return MigrationResult(success: true, migratedCount: found.count)
    }
}

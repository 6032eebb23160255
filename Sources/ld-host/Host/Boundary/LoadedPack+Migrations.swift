internal import CLocalData
internal import FoundationEssentials
package import LocalDataAPI

/// The pack's migrations, as the engine runs them.
extension LoadedPack {
    /// The migrations of single keys, in the order of the list.
    package func migrations() -> [AnyStorageMigration] {
        list.indices.compactMap { index in
            guard let destination = list[index].destination else { return nil }
            var migration = AnyStorageMigration(
                list[index], destination: destination, sources: list[index].sources,
                condition: { try await self.shouldMigrate(index, $0, $1) },
                action: { try await self.migrate(index, $0, $1) },
                validation: { () throws(MigrationError) in try self.validate(index) })
            migration.pack = identity.with(fingerprint: list[index].fingerprint)
            return migration
        }
    }

    /// The bulk migrations, in the order of the list.
    ///
    /// - Throws: The pack's error for a migration that can never work.
    package func bulkMigrations() throws(StorageError) -> [AnyBulkMigration] {
        var migrations: [AnyBulkMigration] = []
        for index in list.indices {
            guard let bulk = list[index].bulk else { continue }
            if let validate = table.validate {
                _ = try site("validate").call { validate(table.`self`, index, $0) }
            }
            var migration = AnyBulkMigration(
                list[index], source: bulk.source, destination: bulk.destination, changesValues: bulk.converts,
                conversion: { bulk.converts ? try self.convert(index, $1, $0) : $0 })
            migration.pack = identity.with(fingerprint: list[index].fingerprint)
            migrations.append(migration)
        }
        return migrations
    }

    private func shouldMigrate(
        _ index: Int, _ provider: any StorageProviding, _ context: MigrationContext
    ) async throws -> Bool {
        try await call(index, provider, context) { (transaction, context) throws(StorageError) in
            try self.site("should_migrate").call(.found) {
                self.table.should_migrate?(self.table.`self`, index, transaction, context, $0) ?? LD_FAILED
            } == LD_OK
        }
    }

    private func migrate(
        _ index: Int, _ provider: any StorageProviding, _ context: MigrationContext
    ) async throws -> MigrationResult {
        let data = try await call(index, provider, context) { (transaction, context) throws(StorageError) in
            try self.site("migrate").value(.done) { sink, error in
                self.table.migrate?(self.table.`self`, index, transaction, context, sink, error) ?? LD_FAILED
            }
        }
        return try MigrationResult(boundary: data ?? Data())
    }

    private func validate(_ index: Int) throws(MigrationError) {
        guard let validate = table.validate else {
            guard let destination = list[index].destination else { return }
            for source in list[index].sources {
                try MigrationUtils.validateCompatibility(
                    from: source.descriptor, to: destination.descriptor, allowingOtherTypes: true)
            }
            return
        }
        do throws(StorageError) { _ = try site("validate").call { validate(table.`self`, index, $0) } } catch {
            throw MigrationError(of: list[index].id, Self.original(error))
        }
    }

    private func convert(_ index: Int, _ name: String, _ value: Data) throws -> Data {
        do throws(StorageError) {
            return try name.withBytes { (name) throws(StorageError) in
                try value.withBuffer { (value) throws(StorageError) in
                    try site("convert").value(.done) { sink, error in
                        table.convert?(table.`self`, index, name, ld_bytes(value), sink, error) ?? LD_FAILED
                    } ?? Data()
                }
            }
        } catch {
            throw Self.original(error)
        }
    }
}

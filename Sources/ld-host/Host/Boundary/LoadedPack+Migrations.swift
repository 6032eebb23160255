internal import CLocalData
internal import FoundationEssentials
package import LocalDataAPI

/// The pack's migrations, as the engine runs them.
extension LoadedPack {
    /// Those of one key each, in the order of the list.
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

    /// Those of many keys, in the order of the list.
    ///
    /// - Throws: What the pack says of one that can never be right.
    package func bulkMigrations() throws(StorageError) -> [AnyBulkMigration] {
        var migrations: [AnyBulkMigration] = []
        for index in list.indices {
            guard let bulk = list[index].bulk else { continue }
            if let validate = table.validate {
                _ = try ReportSink.call { validate(table.`self`, index, $0) }
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
        let status = try await call(index, provider, context) { [table] (transaction, context) throws(StorageError) in
            try ReportSink.call {
                table.should_migrate?(table.`self`, index, transaction, context, $0) ?? LD_FAILED
            }
        }
        switch status {
        case LD_OK: return true
        case LD_ABSENT: return false
        default: throw unexpected(status, "should_migrate", index)
        }
    }

    private func migrate(
        _ index: Int, _ provider: any StorageProviding, _ context: MigrationContext
    ) async throws -> MigrationResult {
        let (status, data) = try await call(index, provider, context) {
            [table] (transaction, context) throws(StorageError) in
            try ValueSink.collect { (sink) throws(StorageError) in
                try ReportSink.call {
                    table.migrate?(table.`self`, index, transaction, context, sink, $0) ?? LD_FAILED
                }
            }
        }
        guard status == LD_OK, let data else { throw unexpected(status, "migrate", index) }
        return try MigrationResult(boundary: data)
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
        do throws(StorageError) { _ = try ReportSink.call { validate(table.`self`, index, $0) } } catch {
            throw MigrationError(of: list[index].id, Self.original(error))
        }
    }

    private func convert(_ index: Int, _ name: String, _ value: Data) throws -> Data {
        do throws(StorageError) {
            let (status, data) = try ValueSink.collect { (sink) throws(StorageError) in
                try name.withBytes { (name) throws(StorageError) in
                    try value.withBuffer { (value) throws(StorageError) in
                        try ReportSink.call {
                            table.convert?(table.`self`, index, name, ld_bytes(value), sink, $0) ?? LD_FAILED
                        }
                    }
                }
            }
            guard status == LD_OK, let data else { throw unexpected(status, "convert", index) }
            return data
        } catch {
            throw Self.original(error)
        }
    }

    private func unexpected(_ status: Int32, _ function: String, _ index: Int) -> StorageError {
        StorageError(
            .unknown,
            "the pack '\(identity.name)' answered \(function) of '\(list[index].id)' with the status \(status)"
                + (status == LD_OK ? " and no result" : ", which has no meaning there"),
            hint: "report this to the plugin's author")
    }
}

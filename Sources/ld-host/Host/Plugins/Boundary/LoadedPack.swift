package import CLocalData
internal import FoundationEssentials
internal import HostGround
package import LocalDataAPI

/// An open migration pack of some plugin: the import side of the boundary.
package final class LoadedPack: Sendable {
    /// The pack's own table, copied.
    package let table: ld_migration_pack
    /// The pack's list of migrations, in its order.
    package let list: [MigrationDescription]
    /// The pack's identity in the ledger.
    package let identity: MigrationPackIdentity
    /// The component's identity, for errors.
    private let source: ComponentIdentity
    private let lane: CallLane

    /// Takes over an open pack's table.
    ///
    /// - Parameter timeout: The time limit for one run of one migration.
    /// - Throws: `pluginRefused` with the component and the invalid part of its table.
    init(
        table pointer: UnsafeRawPointer?, _ source: ComponentIdentity, _ identity: MigrationPackIdentity,
        timeout: Duration
    ) throws(StorageError) {
        func refused(_ what: String, _ hint: String) -> StorageError {
            StorageError(
                .pluginRefused, "component '\(identity.component)' opened a migration pack \(what)", hint: hint)
        }
        var table = ld_migration_pack()
        guard BoundaryStruct.copy(pointer, into: &table, least: ld_migration_pack_least_size) else {
            throw refused(
                "whose table has \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_migration_pack_least_size))",
                "build the plugin against the header of ABI major \(LD_ABI_MAJOR)")
        }
        guard let migrations = table.migrations.checked else {
            throw refused(
                "without its list of migrations: it passed \(table.migrations.flaw())", "set 'migrations' of its table")
        }
        do throws(StorageError) {
            list = try MigrationDescription.list(Data(migrations))
            _ = try Self.order(of: list)
        } catch {
            throw StorageError(
                error.code, "component '\(identity.component)': \(error.message)", hint: error.hint)
        }
        for migration in list {
            guard let key = migration.destination, let why = key.descriptor.syncRefusal else { continue }
            throw refused(
                "whose migration '\(migration.id)' gives '\(key.address)' the sync policy "
                    + "\(key.descriptor.syncPolicy.rawValue), but the key \(why), so it never leaves this device",
                "give the key the sync policy never, or let its values leave the device")
        }
        let functions: [(name: String, isThere: Bool, isNeeded: Bool)] = [
            ("should_migrate", table.should_migrate != nil, list.contains { $0.bulk == nil }),
            ("migrate", table.migrate != nil, list.contains { $0.bulk == nil }),
            ("convert", table.convert != nil, list.contains { $0.bulk?.converts == true }),
        ]
        if let missing = functions.first(where: { $0.isNeeded && !$0.isThere }) {
            throw refused("without the function '\(missing.name)'", "its list has a migration that needs it")
        }
        self.table = table
        self.identity = identity
        self.source = source
        lane = CallLane(
            width: Self.width, timeout: timeout, threads: .own,
            advice: "check what the pack is waiting for, or raise migrations.packs.\(identity.name).timeout")
    }

    /// The most concurrent migrations of a pack; others wait.
    private static let width = 48

    /// A call of one of its functions.
    func site(_ function: StaticString) -> CallSite { source.site(function) }

    /// - Throws: `pluginRefused` with the circle if the pack's migrations depend on each other in one.
    private static func order(of list: [MigrationDescription]) throws(StorageError) -> [MigrationDescription] {
        do { return try MigrationOrder(list).sorted() } catch {
            throw StorageError(
                .pluginRefused, error.message, hint: "take one of the dependencies out of its list of migrations")
        }
    }

    /// Calls a migration on its own thread, with a transaction.
    ///
    /// - Throws: The pack's error, as a `MigrationError` or a `StorageError`; `timedOut` with the migration if it does
    ///   not return in time, `cancelled` if the task is cancelled. Its transaction is then invalid, and the result of
    ///   its further work is ignored.
    func call<Value: Sendable>(
        _ migration: Int, _ provider: any StorageProviding, _ context: MigrationContext,
        _ body: @escaping @Sendable (UnsafePointer<ld_migration_transaction>, ld_bytes) throws(StorageError) -> Value
    ) async throws -> Value {
        let call = PackCall(provider, known: keys(of: migration))
        let situation = try context.boundary()
        let what = "the migration '\(list[migration].id)' of the pack '\(identity.name)'"
        do throws(StorageError) {
            return try await lane.run(what) { () throws(StorageError) in
                try MemorySecrecy.clearingStack { () throws(StorageError) in
                    try call.run { (transaction) throws(StorageError) in
                        try situation.withBuffer { (bytes) throws(StorageError) in
                            try body(transaction, ld_bytes(bytes))
                        }
                    }
                }
            }
        } catch {
            if error.code == .timedOut || error.code == .cancelled {
                call.cancel()
                table.cancel?(table.`self`, call.number)
            }
            throw Self.original(error)
        }
    }

    private func keys(of migration: Int) -> [AnyStorageKey] {
        (list[migration].destination.map { [$0] } ?? []) + list[migration].sources
    }

    /// The pack's error before it became a report.
    static func original(_ error: StorageError) -> any Error {
        guard let code = MigrationError.Code(number: error.code.rawValue) else { return error }
        return MigrationError(code, error.message)
    }

    /// Closes the pack. Only for callers that know that no call is in flight.
    package func close() { site("close").plain { table.close?(table.`self`) } }
}

extension MigrationDescription: OrderedMigration {}

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

/// The id and the dependencies of a migration.
package protocol OrderedMigration {
    var id: String { get }
    var dependencies: [String] { get }
}

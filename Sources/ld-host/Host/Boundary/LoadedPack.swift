package import CLocalData
internal import FoundationEssentials
package import LocalDataAPI

/// An open migration pack of some plugin: the import side of the boundary.
package final class LoadedPack: Sendable {
    /// The pack's own table, copied.
    package let table: ld_migration_pack
    /// Its list, in its order.
    package let list: [MigrationDescription]
    /// Which pack it is, for the ledger.
    package let identity: MigrationPackIdentity
    /// Which component it is, for errors.
    private let source: ComponentIdentity
    private let lane: CallLane

    /// Takes over an open pack's table.
    ///
    /// - Parameter timeout: How long one run of one migration may take.
    /// - Throws: `pluginRefused` naming the component and what is not usable.
    init(
        table pointer: UnsafeRawPointer?, _ source: ComponentIdentity, _ identity: MigrationPackIdentity,
        timeout: Duration
    ) throws(StorageError) {
        func refused(_ what: String, _ hint: String) -> StorageError {
            StorageError(
                .pluginRefused, "component '\(identity.component)' opened a migration pack \(what)", hint: hint)
        }
        var table = ld_migration_pack()
        guard copyTable(pointer, into: &table, required: Self.requiredSize) else {
            let size = pointer.map { Int($0.loadUnaligned(as: UInt32.self)) } ?? 0
            throw refused(
                "whose table has \(size) bytes; expected \(Self.requiredSize) to \(largestTable)",
                "build the plugin against the header of ABI major \(LD_ABI_MAJOR)")
        }
        guard let migrations = table.migrations.checked else {
            throw refused(
                "without its list of migrations: it gave \(table.migrations.flaw())", "set 'migrations' of its table")
        }
        do throws(StorageError) {
            list = try MigrationDescription.list(Data(migrations))
            _ = try Self.order(of: list)
        } catch {
            throw StorageError(
                error.code, "component '\(identity.component)': \(error.message)", hint: error.hint)
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
            advice: "see what the pack waits for, or raise migrations.packs.\(identity.name).timeout")
    }

    /// The most migrations of a pack that run at once; others wait for their turn.
    private static let width = 48

    /// A call of one of its functions.
    func site(_ function: StaticString) -> CallSite { source.site(function) }

    private static var requiredSize: Int {
        MemoryLayout<ld_migration_pack>.offset(of: \ld_migration_pack.extension)
            ?? MemoryLayout<ld_migration_pack>.size
    }

    /// - Throws: `pluginRefused` with the circle, if migrations of the pack depend on each other in one.
    private static func order(of list: [MigrationDescription]) throws(StorageError) -> [MigrationDescription] {
        do { return try MigrationOrder(list).sorted() } catch {
            throw StorageError(
                .pluginRefused, error.message, hint: "take one of the dependencies out of its list of migrations")
        }
    }

    /// Makes a call of a migration on a thread of its own, with a transaction.
    ///
    /// - Throws: What the pack reports, as a `MigrationError` or a `StorageError`; `timedOut` naming the migration if
    ///   it does not return in time, `cancelled` if the task is: its transaction is of no use then, and what it still
    ///   does is ignored.
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

    /// What a pack threw before it was a report.
    static func original(_ error: StorageError) -> any Error {
        guard let code = MigrationError.Code(number: error.code.rawValue) else { return error }
        return MigrationError(code, error.message)
    }

    /// Ends the pack. Only for callers that know that no call is in flight.
    package func close() { site("close").plain { table.close?(table.`self`) } }
}

extension MigrationDescription: OrderedMigration {}

internal import CLocalData
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A migration pack of some Swift type, as its table's C functions use it.
final class MigrationExport: Sendable {
    private let migrations: [AnyStorageMigration]
    private let bulk: [AnyBulkMigration]
    private let list: Data
    /// Cancels the running calls.
    private let running = Mutex<[UInt64: @Sendable () -> Void]>([:])

    init(_ pack: some MigrationPack) throws(StorageError) {
        migrations = pack.migrations
        bulk = pack.bulkMigrations
        list = try MigrationDescription.json(migrations, bulk)
    }

    /// The table of this pack; it keeps the pack until `close`.
    var table: UnsafePointer<ld_migration_pack> {
        .immortal(
            ld_migration_pack(
                size: UInt32(MemoryLayout<ld_migration_pack>.size), reserved: 0, migrations: list.immortalBytes(),
                self: Unmanaged.passRetained(self).toOpaque(), should_migrate: packShouldMigrate,
                migrate: packMigrate, validate: packValidate, convert: packConvert, cancel: packCancel,
                extension: packExtension, close: packClose))
    }

    func migration(_ index: Int) throws -> AnyStorageMigration {
        guard migrations.indices.contains(index) else { throw missing(index) }
        return migrations[index]
    }

    func validate(_ index: Int) throws {
        if migrations.indices.contains(index) { return try migrations[index].validate() }
        try bulkMigration(index).validate()
    }

    func bulkMigration(_ index: Int) throws -> AnyBulkMigration {
        let position = index - migrations.count
        guard bulk.indices.contains(position) else { throw missing(index) }
        return bulk[position]
    }

    private func missing(_ index: Int) -> StorageError {
        StorageError(.unsupported, "the pack has no such migration at \(index)")
    }

    /// Runs a migration's code on this thread, with the host's transaction.
    func run<Value: Sendable>(
        _ transaction: UnsafePointer<ld_migration_transaction>?, _ context: ld_bytes,
        _ body: @escaping @Sendable (PackTransaction, MigrationContext) async throws -> Value
    ) throws -> Value {
        let table = try PackTransaction.table(transaction)
        let context = try MigrationContext(boundary: Data(context.bytes()))
        defer { running.withLock { $0[table.call] = nil } }
        return try CallerThreadExecutor.run { _, cancel in
            running.withLock { $0[table.call] = cancel }
        } _: { executor in
            try await body(PackTransaction(table, executor), context)
        }
    }

    /// Cancels the task of a call if it is running.
    func cancel(_ call: UInt64) { running.withLock { $0[call] }?() }
}

// The C functions of an exported pack's table. They are at file scope, so that no isolation is inferred for them.

private func pack(_ context: UnsafeMutableRawPointer?) throws -> MigrationExport {
    guard let context else { throw StorageError(.unsupported, "a migration pack was called without 'self'") }
    return Unmanaged<MigrationExport>.fromOpaque(context).takeUnretainedValue()
}

func packShouldMigrate(
    context: UnsafeMutableRawPointer?, index: Int, transaction: UnsafePointer<ld_migration_transaction>?,
    situation: ld_bytes, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        let pack = try pack(context)
        let migration = try pack.migration(index)
        let isWanted = try pack.run(transaction, situation) {
            try await migration.shouldMigrate(using: $0, context: $1)
        }
        return isWanted ? LD_OK : LD_ABSENT
    }
}

func packMigrate(
    context: UnsafeMutableRawPointer?, index: Int, transaction: UnsafePointer<ld_migration_transaction>?,
    situation: ld_bytes, sink: UnsafePointer<ld_sink>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "migrate was called without a sink") }
        let pack = try pack(context)
        let migration = try pack.migration(index)
        let result: MigrationResult
        do {
            result = try pack.run(transaction, situation) { try await migration.migrate(using: $0, context: $1) }
        } catch let failure as MigrationError {
            // A report has no room for the underlying error.
            result = MigrationResult(success: false, errors: [failure])
        }
        return sink.send(try result.boundary().bytes) ? LD_OK : LD_STOPPED
    }
}

func packValidate(
    context: UnsafeMutableRawPointer?, index: Int, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        try pack(context).validate(index)
        return LD_OK
    }
}

func packConvert(
    context: UnsafeMutableRawPointer?, index: Int, name: ld_bytes, value: ld_bytes, sink: UnsafePointer<ld_sink>?,
    error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let sink else { throw StorageError(.unsupported, "convert was called without a sink") }
        guard let name = name.text else { throw StorageError(.invalidAddress, "a name at the boundary is not UTF-8") }
        let converted = try pack(context).bulkMigration(index).convert(Data(value.bytes()), named: name)
        return sink.send(converted.bytes) ? LD_OK : LD_STOPPED
    }
}

func packCancel(context: UnsafeMutableRawPointer?, call: UInt64) { try? pack(context).cancel(call) }

func packExtension(context: UnsafeMutableRawPointer?, id: ld_bytes) -> UnsafeRawPointer? { nil }

func packClose(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<MigrationExport>.fromOpaque(context).release() }
}

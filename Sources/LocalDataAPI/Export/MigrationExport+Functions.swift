internal import CLocalData
internal import FoundationEssentials

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

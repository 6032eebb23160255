internal import CLocalData
internal import FoundationEssentials

/// Opens a pack of one Swift type; a migration component's `context` points to it.
class AnyMigrationFactory {
    func open(options: ld_bytes, host: UnsafePointer<ld_host>?) throws -> UnsafePointer<ld_migration_pack> {
        throw StorageError(.unsupported)
    }
}

final class MigrationFactory<Pack: MigrationPack>: AnyMigrationFactory {
    override func open(
        options: ld_bytes, host: UnsafePointer<ld_host>?
    ) throws -> UnsafePointer<ld_migration_pack> {
        let options = try ComponentOptions(json: Data(options.bytes()))
        return try MigrationExport(Pack(options: options, host: HostServices(host))).table
    }
}

func openMigrations(
    context: UnsafeMutableRawPointer?, host: UnsafePointer<ld_host>?, options: ld_bytes,
    table: UnsafeMutablePointer<UnsafeRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let context, let table else { throw StorageError(.unsupported, "open was called without a context") }
        let factory = Unmanaged<AnyMigrationFactory>.fromOpaque(context).takeUnretainedValue()
        table.pointee = UnsafeRawPointer(try factory.open(options: options, host: host))
        return LD_OK
    }
}

internal import LocalDataAPI
internal import MigrationManifest

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func standardMigrationsPlugin() -> UnsafeRawPointer {
    Plugin.export("StandardMigrations", version: "0.1.0", .migrations(StandardMigrations.self))
}

/// Migrations that an operator declares, in the configuration or in a file: see StandardMigrations in the
/// documentation.
struct StandardMigrations: MigrationPack {
    static let component = ComponentInfo(
        id: "standard",
        summary: "migrations by a manifest: rename, move, remove, default, re-encode, map members, aggregate",
        options: [
            .list("manifest", help: "the steps"),
            .path("file", help: "a JSON file with the steps, in place of 'manifest'"),
        ])

    private let manifest: Manifest

    init(options: ComponentOptions, host: HostServices) throws {
        guard options.contains("file") else {
            manifest = options.contains("manifest") ? try Manifest(options.list("manifest")) : Manifest()
            return
        }
        guard !options.contains("manifest") else {
            throw StorageError(
                .invalidOptions, "the options 'manifest' and 'file' are both given; expected one of them")
        }
        manifest = try Manifest(file: options.string("file"))
    }

    var migrations: [AnyStorageMigration] { manifest.migrations }
    var bulkMigrations: [AnyBulkMigration] { manifest.bulkMigrations }
}

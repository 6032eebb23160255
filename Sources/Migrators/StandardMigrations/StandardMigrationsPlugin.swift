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
            .list("containers", help: "containers of settings with the steps between their versions"),
            .path("file", help: "a JSON file with the steps, the containers or both, in place of the other options"),
        ])

    private let manifest: Manifest

    init(options: ComponentOptions, host: HostServices) throws {
        guard options.contains("file") else {
            manifest = try Manifest(
                options.contains("manifest") ? options.list("manifest") : [],
                containers: options.contains("containers") ? options.list("containers") : [])
            try manifest.requireDeclared()
            return
        }
        for other in ["manifest", "containers"] where options.contains(other) {
            throw StorageError(
                .invalidOptions, "the options '\(other)' and 'file' are both given; expected one of them")
        }
        manifest = try Manifest(file: options.string("file"))
        try manifest.requireDeclared()
    }

    var migrations: [AnyStorageMigration] { manifest.migrations }
    var bulkMigrations: [AnyBulkMigration] { manifest.bulkMigrations }
}

import LocalDataAPI

/// A pack with one migration of each kind.
///
/// ```
/// migrations: { packs: { app: { component: "custom-migrations", options: { font: "Serif" } } } }
/// ```
struct CustomMigrationPack: MigrationPack {
    static let component = ComponentInfo(
        id: "custom-migrations", summary: "brings the example app's data of version 1 to version 2",
        options: [.string("font", default: "Sans", help: "the font of users who never chose one")])

    let migrations: [AnyStorageMigration]
    let bulkMigrations = [AnyBulkMigration(RecentMove())]

    init(options: ComponentOptions, host: HostServices) throws {
        migrations = [
            AnyStorageMigration(tokenMigration),
            AnyStorageMigration(ThemeMigration()),
            AnyStorageMigration(ProfileMigration()),
            AnyStorageMigration(FontMigration(name: try options.string("font"))),
            AnyStorageMigration(startsMigration),
            AnyStorageMigration(DocumentMigration()),
            AnyStorageMigration(TelemetryRemoval()),
        ]
    }
}

/// The plugin's entry.
@c(localdata_plugin_v1)
public func plugin() -> UnsafeRawPointer {
    Plugin.export("CustomMigrationPack", version: "1.0.0", .migrations(CustomMigrationPack.self))
}

internal import LocalDataAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func standardMigrationsPlugin() -> UnsafeRawPointer {
    Plugin.export("StandardMigrations", version: "0.1.0", .migrations(StandardMigrations.self))
}

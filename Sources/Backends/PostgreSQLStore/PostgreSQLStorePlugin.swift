internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func postgreSQLStorePlugin() -> UnsafeRawPointer {
    Plugin.export("PostgreSQLStore", version: "0.1.0", .storage(PostgreSQLStore.self))
}

internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func sqliteStorePlugin() -> UnsafeRawPointer {
    Plugin.export("SQLiteStore", version: "0.1.0", .storage(SQLiteStore.self))
}

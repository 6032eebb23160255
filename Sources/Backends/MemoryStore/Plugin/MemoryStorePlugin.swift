internal import LocalDataPluginAPI
internal import MemoryStore

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func memoryStorePlugin() -> UnsafeRawPointer {
    Plugin.export("MemoryStore", version: "0.1.0", .memoryStore)
}

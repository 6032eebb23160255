internal import FileStore
internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func fileStorePlugin() -> UnsafeRawPointer {
    Plugin.export("FileStore", version: "0.1.0", .fileStore)
}

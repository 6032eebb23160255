internal import FolderSync
internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func folderSyncPlugin() -> UnsafeRawPointer {
    Plugin.export("FolderSync", version: "0.1.0", .folderSync)
}

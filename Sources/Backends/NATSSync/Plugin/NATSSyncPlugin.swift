internal import LocalDataPluginAPI
internal import NATSSync

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func natsSyncPlugin() -> UnsafeRawPointer {
    Plugin.export("NATSSync", version: "0.1.0", .natsSync)
}

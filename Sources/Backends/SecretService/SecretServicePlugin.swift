internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func secretServicePlugin() -> UnsafeRawPointer {
    Plugin.export("SecretService", version: "0.1.0", .storage(SecretStore.self))
}

internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func sodiumCryptoPlugin() -> UnsafeRawPointer {
    Plugin.export("SodiumCrypto", version: "0.1.0", .crypto(SodiumCrypto.self))
}

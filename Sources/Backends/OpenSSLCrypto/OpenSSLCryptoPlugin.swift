internal import LocalDataPluginAPI

/// The plugin's entry function.
@c(localdata_plugin_v1)
public func openSSLCryptoPlugin() -> UnsafeRawPointer {
    Plugin.export("OpenSSLCrypto", version: "0.1.0", .crypto(OpenSSLCrypto.self))
}

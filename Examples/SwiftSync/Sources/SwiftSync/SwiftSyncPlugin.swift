import LocalDataPluginAPI

/// The plugin's entry: what a host calls first, and the only symbol that it looks for.
@c(localdata_plugin_v1)
public func plugin() -> UnsafeRawPointer {
    Plugin.export("SwiftSync", version: "0.1.0", .sync(SwiftSync.self))
}

internal import Glibc
internal import LocalDataAPI
internal import LocalDataHost

/// The paths of a run: plugins, compiled C programs, and a folder for the stored data.
struct Setting: Sendable {
    /// The folder of the plugins.
    let plugins: String
    /// The folder of the compiled C programs and fixtures.
    let tools: String
    /// A folder on the disk to be measured; removed by the caller.
    let folder: String

    /// A separate router for one store that serves the domain `bench`.
    ///
    /// - Parameters:
    ///   - component: The component's id.
    ///   - plugin: The file of the plugin that offers it.
    ///   - options: The component's options, as a JSON object.
    func router(_ component: String, in plugin: String, options: String = "{}") throws -> StorageRouter {
        try StorageRouter(
            configuration: HostConfiguration(
                text: """
                    {
                      "plugins": { "path": ["\(plugin)"] },
                      "directories": { "cache": "\(folder)/cache", "data": "\(folder)/data" },
                      "stores": {
                        "bench": { "component": "\(component)", "options": \(options), "concurrency": 64 },
                      },
                      "domains": { "bench": "bench" },
                    }
                    """))
    }

    /// A router for the memory store whose keys can be sealed, with master keys in files next to it.
    func sealing() throws -> StorageRouter {
        let files = ["MemoryStore", "FileStore", "OpenSSLCrypto"].map { "\"\(plugins)/lib\($0).so\"" }
        return try StorageRouter(
            configuration: HostConfiguration(
                text: """
                    {
                      "plugins": { "path": [\(files.joined(separator: ", "))] },
                      "directories": {
                        "cache": "\(folder)/cache", "data": "\(folder)/data", "state": "\(folder)/state",
                        "config": "\(folder)/config",
                      },
                      "domains": { "bench": "memory" },
                    }
                    """))
    }

    /// A router for the memory store.
    func memory() throws -> StorageRouter { try router("memory", in: "\(plugins)/libMemoryStore.so") }

    /// A key in the domain `bench`.
    static func key<Value>(
        _ name: String, _ serializer: Serializer<Value>, security: SecurityPolicy = .none
    ) -> StorageKey<Value> {
        StorageKey(
            name: name, domain: .custom(name: "bench"), security: security, serializer: serializer,
            owner: "Benchmarks", description: "A value to measure with.")
    }
}

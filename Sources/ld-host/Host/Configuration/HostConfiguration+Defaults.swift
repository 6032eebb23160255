internal import LocalDataAPI

extension HostConfiguration {
    /// What counts where nothing else is said. A folder that the environment does not determine has no default.
    static func defaults(_ locations: ConfigurationLocations) -> ConfigurationLayer {
        var value = ConfigurationSchema.host.defaults
        for (domain, store) in standardRoutes { value = value.setting(.string(store), at: ["domains", domain]) }
        for (path, setting) in [
            (["component"], "file"), (["options", "root"], "${data}/keychain"), (["sealing", "source"], "keyFile"),
        ] { value = value.setting(.string(setting), at: ["stores", sealedStore] + path) }
        for (name, path) in [
            ("data", locations.dataDirectory), ("cache", locations.cacheDirectory),
            ("state", locations.stateDirectory), ("config", locations.configurationDirectory),
        ] {
            if let path { value = value.setting(.string(path), at: ["directories", name]) }
        }
        return ConfigurationLayer(.default, source: "default", value: value)
    }

    /// The store of the keychain domain: files, sealed with a key from a key file, so that no daemon is needed.
    private static let sealedStore = "sealed-files"

    private static var standardRoutes: [(domain: String, store: String)] {
        StorageDomain.standardNames.map { domain in
            switch domain {
            case "keychain": (domain, sealedStore)
            // Many small values.
            case "userDefaults": (domain, "sqlite")
            default: (domain, "file")
            }
        }
    }

    /// The text of a new configuration file: today's choices, so that they never change by themselves.
    static var starter: String {
        let domains = standardRoutes.map { "    \($0.domain): \"\($0.store)\"," }.joined(separator: "\n")
        return """
            // LocalData's configuration: JSON with comments and trailing commas.
            // See what is in effect, and where it comes from, with: ld-host config show --origin
            {
              // Which store serves which domain: a store's name from below, or a component's id.
              domains: {
            \(domains)
              },

              // Stores with options of their own.
              stores: {
                // The keychain: files whose values are sealed. The key is in keys/\(sealedStore).key beside this file,
                // readable by you alone; keep a copy of it with your backups, but apart from the data.
                "\(sealedStore)": {
                  component: "file",
                  options: { root: "${data}/keychain" },
                  sealing: { source: "keyFile" },
                },
                // archive: { component: "file", options: { root: "/srv/archive" } },
              },
            }

            """
    }
}

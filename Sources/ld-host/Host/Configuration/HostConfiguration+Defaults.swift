internal import LocalDataAPI

extension HostConfiguration {
    /// What counts where nothing else is said. A folder that the environment does not determine has no default.
    static func defaults(_ locations: ConfigurationLocations) -> ConfigurationLayer {
        var value = ConfigurationSchema.host.defaults
        for domain in StorageDomain.standardNames { value = value.setting(.string("file"), at: ["domains", domain]) }
        for (name, path) in [
            ("data", locations.dataDirectory), ("cache", locations.cacheDirectory),
            ("state", locations.stateDirectory), ("config", locations.configurationDirectory),
        ] {
            if let path { value = value.setting(.string(path), at: ["directories", name]) }
        }
        return ConfigurationLayer(.default, source: "default", value: value)
    }

    /// The text of a new configuration file: today's choices, so that they never change by themselves.
    static var starter: String {
        let domains = StorageDomain.standardNames.map { "    \($0): \"file\"," }.joined(separator: "\n")
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
                // archive: { component: "file", options: { root: "/srv/archive" } },
              },
            }

            """
    }
}

internal import LocalDataAPI

extension HostConfiguration {
    /// What counts where nothing else is said.
    static func defaults(_ locations: ConfigurationLocations) -> ConfigurationLayer {
        let folders = locations.folders
        return ConfigurationLayer(
            .default,
            value: .object([
                "plugins": .object(["path": .array([]), "timeout": .integer(5)]),
                "domains": .object(
                    Dictionary(uniqueKeysWithValues: StorageDomain.standardNames.map { ($0, .string("file")) })),
                "appGroups": .object(["path": .string("\(folders.data)/groups")]),
                "directories": .object([
                    "data": .string(folders.data), "cache": .string(folders.cache), "state": .string(folders.state),
                    "config": .string(folders.config),
                ]),
                "device": .object(["role": .string(DeviceRole.all.rawValue)]),
                "log": .object(["level": .string("warning")]),
            ]))
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

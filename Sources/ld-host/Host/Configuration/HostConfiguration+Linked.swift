package import LocalDataAPI

extension HostConfiguration {
    /// The built-in defaults with one linked component for every domain: no file, no variable and no folder of plugins
    /// counts, and nothing is written.
    package static func linked(_ component: String) throws(StorageError) -> HostConfiguration {
        // Debian's name for a home that there is not: folders have paths, and nothing can come of using one.
        let locations = ConfigurationLocations(environment: ["HOME": "/nonexistent"], isPrivileged: false)
        var configuration = HostConfiguration(
            layered: LayeredConfiguration(layers: [defaults(locations)]), locations: locations)
        configuration.looksForPlugins = false
        for domain in StorageDomain.standardNames { try configuration.set("domains.\(domain)", .string(component)) }
        return configuration
    }
}

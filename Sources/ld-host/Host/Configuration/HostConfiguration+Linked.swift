package import LocalDataAPI

extension HostConfiguration {
    /// The built-in defaults with one linked component for every domain: no file, no variable and no folder of plugins
    /// counts. What is only in memory is not sealed.
    ///
    /// - Parameter home: Below it is what has to be written down, such as locks and the journal.
    package static func linked(_ component: String, home: String) throws(StorageError) -> HostConfiguration {
        let locations = ConfigurationLocations(environment: ["HOME": home], isPrivileged: false)
        var configuration = HostConfiguration(
            layered: LayeredConfiguration(layers: [defaults(locations)]), locations: locations)
        configuration.looksForPlugins = false
        configuration.sealsMemory = false
        for domain in StorageDomain.standardNames { try configuration.set("domains.\(domain)", .string(component)) }
        return configuration
    }
}

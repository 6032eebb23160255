package import LocalDataAPI

extension HostConfiguration {
    /// A file that may hold configuration.
    package struct File: Encodable, Sendable {
        package let layer: String
        package let path: String
        package let exists: Bool

        init(_ layer: ConfigurationLayer.Name, _ path: String) {
            self.layer = layer.rawValue
            self.path = path
            exists = HostFile.exists(path)
        }
    }

    /// The files that count, from the weakest to the strongest.
    package static func files(flags: Flags, locations: ConfigurationLocations = .current) -> [File] {
        var files = [File(.system, locations.systemFile)]
        if let path = locations.userFile { files.append(File(.user, path)) }
        if let path = locations.namedFile { files.append(File(.environment, path)) }
        if let path = flags.file { files.append(File(.flag, path)) }
        return files
    }

    /// All values, merged.
    package var effective: JSONValue { layered.effective }

    /// Every value that is no object, with its path and origin, in order of the paths.
    package func values() -> [(path: ConfigurationPath, value: JSONValue, origin: ConfigurationOrigin)] {
        layered.origins.keys.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { path in
            layered.value(at: path).map { (ConfigurationPath(path), $0.value, $0.origin) }
        }
    }

    /// The value at a path, and where it comes from.
    package func value(at path: String) throws(StorageError) -> (value: JSONValue, origin: ConfigurationOrigin)? {
        layered.value(at: try ConfigurationPath(path).segments)
    }
}

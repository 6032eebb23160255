package import LocalDataAPI

extension HostConfiguration {
    /// A file that may hold configuration.
    package struct File: Encodable, Sendable {
        package let layer: String
        package let path: String
        package let exists: Bool
        let isRequired: Bool
        var origin: ConfigurationOrigin.Layer { ConfigurationOrigin.Layer(rawValue: layer) ?? .user }

        private enum CodingKeys: String, CodingKey { case layer, path, exists }
    }

    /// The files that count, from the weakest to the strongest.
    package static func files(flags: Flags) -> [File] { files(flags: flags, locations: .current) }

    static func files(flags: Flags, locations: ConfigurationLocations) -> [File] {
        func file(_ layer: ConfigurationOrigin.Layer, _ path: String, isRequired: Bool) -> File {
            File(layer: layer.rawValue, path: path, exists: HostFile.exists(path), isRequired: isRequired)
        }
        var files = [
            file(.system, locations.system, isRequired: false), file(.user, locations.user, isRequired: false),
        ]
        if let path = locations.environment { files.append(file(.environment, path, isRequired: true)) }
        if let path = flags.file { files.append(file(.flag, path, isRequired: true)) }
        return files
    }

    /// Every problem, with file and place.
    package func problems() -> [ConfigurationProblem] {
        layered.layers.flatMap { layer in
            ConfigurationSchema.problems(in: layer.value) { path in
                let origin = layer.document.flatMap { $0.place(of: path) }
                return origin.map { "\(layer.source):\($0.line):\($0.column)" } ?? "\(layer.origin(of: path))"
            }
        } + incompleteStores()
    }

    /// Stores that no layer gives a component.
    private func incompleteStores() -> [ConfigurationProblem] {
        layered.keys(at: ["stores"]).compactMap { name in
            guard layered.string(at: ["stores", name, "component"]) == nil,
                let (_, origin) = layered.value(at: ["stores", name])
            else { return nil }
            return ConfigurationProblem(
                place: "\(origin)", path: ConfigurationPath(["stores", name]),
                message: "the store has no component", hint: "give it one: component: \"file\"")
        }
    }

    /// Every problem of one file.
    ///
    /// - Throws: `invalidConfiguration` if it is missing or not well formed.
    package static func problems(inFile path: String) throws(StorageError) -> [ConfigurationProblem] {
        guard let document = try ConfigurationFile.document(at: path) else {
            throw StorageError(.invalidConfiguration, "there is no file '\(path)'")
        }
        let layer = ConfigurationLayer(.user, document: document)
        return HostConfiguration(
            layered: LayeredConfiguration(layers: [layer]), locations: .current
        ).problems()
    }

    /// All values, merged.
    package var effective: JSONValue { layered.effective }

    /// Every value that is no object, with its path and origin.
    package func values() -> [(path: ConfigurationPath, value: JSONValue, origin: ConfigurationOrigin)] {
        layered.leaves
    }

    /// The value at a path, and where it comes from.
    package func value(at path: String) throws(StorageError) -> (value: JSONValue, origin: ConfigurationOrigin)? {
        layered.value(at: try ConfigurationPath(path).segments)
    }
}

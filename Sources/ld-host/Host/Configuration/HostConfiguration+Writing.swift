internal import FoundationEssentials
package import LocalDataAPI

extension HostConfiguration {
    /// Changes one value in the file that is to be edited, and keeps its comments and order.
    ///
    /// - Parameters:
    ///   - path: The setting.
    ///   - text: JSON, or text if it is no JSON; `nil` removes the setting.
    /// - Returns: The file's path.
    /// - Throws: `invalidConfiguration` if the outcome would not be valid; then the file has not changed.
    package func change(_ path: String, to text: String?, flags: Flags) throws(StorageError) -> String {
        let file = Self.editedFile(flags: flags, locations: locations)
        let segments = try ConfigurationPath(path).segments
        let found = try ConfigurationFile.document(at: file)
        let old = if let found { found } else { try ConfigurationDocument(text: "", source: file) }
        let new: ConfigurationDocument
        if let text {
            new = try old.setting(JSONValue(lenient: text), at: segments)
        } else {
            guard old.value[segments] != nil else {
                throw StorageError(
                    .notFound, "'\(path)' is not set in '\(file)'", hint: "run: ld-host config show --origin")
            }
            new = try old.removing(at: segments)
        }
        // The whole outcome is checked, with the file in its place among the layers.
        var layers = layered.layers.filter { $0.source != file || $0.document == nil }
        let origin: ConfigurationOrigin.Layer =
            flags.file != nil ? .flag : locations.environment != nil ? .environment : .user
        let position = layers.firstIndex { $0.layer.rank > origin.rank } ?? layers.count
        layers.insert(ConfigurationLayer(origin, document: new), at: position)
        let outcome = HostConfiguration(layered: LayeredConfiguration(layers: layers), locations: locations)
        let before = Set(problems())
        if let problem = outcome.problems().first(where: { !before.contains($0) }) {
            throw StorageError(
                .invalidConfiguration, "\(problem.path) cannot be changed so: \(problem.message)", hint: problem.hint)
        }
        try HostFile.write(Data(new.text.utf8), to: file)
        return file
    }

    /// Writes a new configuration file with today's choices, unless there is one.
    ///
    /// - Returns: The file's path, and whether it is new.
    package static func writeStarter(flags: Flags) throws(StorageError) -> (path: String, isNew: Bool) {
        let file = editedFile(flags: flags, locations: .current)
        guard try ConfigurationFile.document(at: file) == nil else { return (file, false) }
        try HostFile.write(Data(starter.utf8), to: file)
        return (file, true)
    }

    private static func editedFile(flags: Flags, locations: ConfigurationLocations) -> String {
        flags.file ?? locations.environment ?? locations.user
    }

}

extension HostConfiguration {
    /// The built-in defaults with all folders below one, for demonstrations.
    package static func isolated(in folder: String) throws(StorageError) -> HostConfiguration {
        var configuration = HostConfiguration()
        for name in ["data", "cache", "state", "config"] {
            try configuration.set("directories.\(name)", .string("\(folder)/\(name)"))
        }
        return configuration
    }
}

extension ConfigurationOrigin.Layer {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

package import LocalDataAPI

extension ConfigurationLocations {
    /// Reads and merges all layers: built-in defaults, system file, user file, the file named by `LOCALDATA_CONFIG`,
    /// the files of `--config` in their order, then every `-c` in its order.
    ///
    /// The shape is not checked here, so that a tool can still show and mend a configuration that breaks a rule: that
    /// is `ConfigurationSchema.validate`. A missing system or user file is no layer; a missing file that was named
    /// is an error. A link counts as the file it leads to; one that leads nowhere counts as missing.
    ///
    /// - Throws: what `ConfigurationDocument.init(path:)` and `ConfigurationLayer.init(assignment:)` throw, at the
    ///   first file or flag that cannot be used.
    package func load(
        flags: [ConfigurationFlag] = [], schema: ConfigurationSchema = .host
    ) throws(StorageError) -> LayeredConfiguration {
        var layers = [ConfigurationLayer(.default, source: "default", value: schema.defaults)]
        if let document = try ConfigurationDocument(path: systemFile) {
            layers.append(ConfigurationLayer(.system, document))
        }
        if let userFile, let document = try ConfigurationDocument(path: userFile) {
            layers.append(ConfigurationLayer(.user, document))
        }
        if let namedFile {
            layers.append(ConfigurationLayer(.environment, try Self.required(namedFile, by: "LOCALDATA_CONFIG")))
        }
        for case .file(let path) in flags {
            layers.append(ConfigurationLayer(.flag, try Self.required(path, by: "--config")))
        }
        for case .assignment(let text) in flags {
            layers.append(try ConfigurationLayer(assignment: text, schema: schema))
        }
        return LayeredConfiguration(layers: layers)
    }

    private static func required(_ path: String, by who: String) throws(StorageError) -> ConfigurationDocument {
        if let document = try ConfigurationDocument(path: path) { return document }
        throw StorageError(
            .invalidConfiguration, "configuration \(path), named by \(who): expected a file, found none",
            hint: "make one that starts empty: echo '{}' > '\(path)'")
    }
}

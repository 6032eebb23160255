public import LocalDataAPI

/// What serves what, and how: the configuration of a router, from files, environment, flags and code.
///
/// Later sources win: built-in defaults, the system's file, the user's file, the file that `LOCALDATA_CONFIG` names,
/// flags, changes in code. The files are JSON with comments and trailing commas.
public struct HostConfiguration: Sendable {
    /// What a command line adds.
    public struct Flags: Sendable {
        /// A file that counts above the others.
        public var file: String?
        /// Values as `KEY=VALUE`, the last of a key counting.
        public var values: [String]

        /// Creates flags.
        public init(file: String? = nil, values: [String] = []) {
            self.file = file
            self.values = values
        }
    }

    package var layered: LayeredConfiguration
    package let locations: ConfigurationLocations

    package init(layered: LayeredConfiguration, locations: ConfigurationLocations) {
        self.layered = layered
        self.locations = locations
    }

    /// The built-in defaults alone, with this environment's folders.
    public init() {
        let locations = ConfigurationLocations.current
        self.init(layered: LayeredConfiguration(layers: [Self.defaults(locations)]), locations: locations)
    }

    /// A configuration given as text, above the built-in defaults; no file is read.
    ///
    /// - Throws: `invalidConfiguration` with every problem.
    public init(text: String, source: String = "configuration") throws(StorageError) {
        self.init()
        let document = try ConfigurationDocument(text: text, source: source)
        layered = LayeredConfiguration(layers: layered.layers + [ConfigurationLayer(.code, document: document)])
        try check()
    }

    /// The configuration of this environment.
    ///
    /// - Throws: `invalidConfiguration` naming file and place of every problem.
    public static func load(flags: Flags = Flags()) throws(StorageError) -> HostConfiguration {
        let configuration = try loadUnchecked(flags: flags, locations: .current)
        try configuration.check()
        return configuration
    }

    package static func loadUnchecked(
        flags: Flags, locations: ConfigurationLocations
    ) throws(StorageError) -> HostConfiguration {
        var layers = [defaults(locations)]
        for file in files(flags: flags, locations: locations) {
            if let document = try ConfigurationFile.document(at: file.path) {
                layers.append(ConfigurationLayer(file.origin, document: document))
            } else if file.isRequired {
                throw StorageError(
                    .invalidConfiguration, "the configuration file '\(file.path)' (\(file.layer)) does not exist",
                    hint: "make it with: LOCALDATA_CONFIG='\(file.path)' ld-host init")
            }
        }
        for text in flags.values { layers.append(try layer(flag: text)) }
        return HostConfiguration(layered: LayeredConfiguration(layers: layers), locations: locations)
    }

    private static func layer(flag text: String) throws(StorageError) -> ConfigurationLayer {
        let (path, rest) = try ConfigurationPath.prefix(of: text)
        guard rest.hasPrefix("=") else {
            throw StorageError(
                .invalidConfiguration, "the flag '-c \(text)' has no value", hint: "write -c KEY=VALUE")
        }
        let value = JSONValue(lenient: String(rest.dropFirst()))
        return ConfigurationLayer(
            .flag, source: "-c \(text)", value: JSONValue.object([:]).setting(value, at: path.segments))
    }

    /// Changes one value, above all other sources.
    ///
    /// - Throws: `invalidConfiguration` if the outcome is not valid; then nothing has changed.
    public mutating func set(_ path: String, _ value: AnyCodable.Content) throws(StorageError) {
        var changed = self
        changed.layered.set(JSONValue(value), at: try ConfigurationPath(path).segments)
        try changed.check()
        self = changed
    }

    private func check() throws(StorageError) {
        let problems = problems()
        guard let first = problems.first else { return }
        throw StorageError(
            .invalidConfiguration,
            problems.map { "\($0.place): \($0.path): \($0.message)" }.joined(separator: "; "),
            hint: problems.count == 1 ? first.hint : "correct them all; ld-host config validate lists them")
    }
}

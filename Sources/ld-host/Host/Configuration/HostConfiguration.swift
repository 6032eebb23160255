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
    /// Whether plugin files are looked for; without, only what is linked into the program serves.
    package var looksForPlugins = true
    /// Whether the policies of keys are applied to what is only in this process's memory.
    package var sealsMemory = true

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
        let document = try ConfigurationDocument(text: text, source: source)
        self.init()
        layered = LayeredConfiguration(layers: layered.layers + [ConfigurationLayer(.user, document)])
        try check()
    }

    /// The configuration of this environment.
    ///
    /// - Throws: `invalidConfiguration` naming file and place of every problem.
    public static func load(flags: Flags = Flags()) throws(StorageError) -> HostConfiguration {
        let configuration = try loadUnchecked(flags: flags)
        try configuration.check()
        return configuration
    }

    /// The same with whatever is not valid in it, for tools that mend it.
    package static func loadUnchecked(
        flags: Flags = Flags(), locations: ConfigurationLocations = .current
    ) throws(StorageError) -> HostConfiguration {
        let loaded = try locations.load(flags: flags.list)
        let layers = [defaults(locations)] + loaded.layers.filter { $0.name != .default }
        return HostConfiguration(layered: LayeredConfiguration(layers: layers), locations: locations)
    }

    /// Changes one value, above all other sources.
    ///
    /// - Throws: `invalidConfiguration` if the outcome is not valid; then nothing has changed.
    public mutating func set(_ path: String, _ value: AnyCodable.Content) throws(StorageError) {
        var changed = self
        changed.layered = try layered.setting(JSONValue(value), at: try ConfigurationPath(path).segments)
        try changed.check()
        self = changed
    }

    /// Every problem, with file and place, that shows without a look at plugins.
    package func problems() -> [ConfigurationProblem] { invalidValues() + incomputableSealings() }

    private func invalidValues() -> [ConfigurationProblem] {
        ConfigurationSchema.host.validate(layered) + sealingProblems()
    }

    private func check() throws(StorageError) {
        // What the provider cannot compute concerns one store: the others serve.
        if let error = ConfigurationProblem.error(for: invalidValues()) { throw error }
    }
}

extension HostConfiguration.Flags {
    var list: [ConfigurationFlag] {
        (file.map { [.file($0)] } ?? []) + values.map { .assignment($0) }
    }
}

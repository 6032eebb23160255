public import LocalDataAPI

/// The configuration of a router, from files, environment, flags and code.
///
/// Later sources win: built-in defaults, the system's file, the user's file, the file that `LOCALDATA_CONFIG` names,
/// flags, changes in code. The files are JSON with comments and trailing commas.
public struct HostConfiguration: Sendable {
    /// The flags of a command line.
    public struct Flags: Sendable {
        /// A file that overrides the others.
        public var file: String?
        /// Values as `KEY=VALUE`; the last one for a key wins.
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
    /// Whether the process ends after one command, with all that is only in its memory.
    package var endsAfterCommand = false
    /// Whether changes of its files by others than LocalData's programs are noticed, too.
    package var watchesFiles = true
    /// The identity of a program whose configuration has no `app.id`. A tool has none of its own.
    package var ownAppID = AppIdentifier.ofThisProgram
    /// The flags that it was read with, its file by an absolute path; `nil` if it was not read from files.
    var flags: Flags?
    /// Where its files are, also after the program has changed its working directory.
    private(set) var places: ConfigurationLocations
    /// The page's number before the files were read.
    package private(set) var number: UInt64 = 0
    /// The store of each domain by the files as this program first read them, once it has read them again.
    var served: [String: String]?

    package init(layered: LayeredConfiguration, locations: ConfigurationLocations) {
        self.layered = layered
        self.locations = locations
        places = locations
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
        try LastingMemory.make { () throws(StorageError) in
            let number = ConfigurationPage.ofUser.number
            let loaded = try locations.load(flags: flags.list)
            let layers = [defaults(locations)] + loaded.layers.filter { $0.name != .default }
            var configuration = HostConfiguration(
                layered: LayeredConfiguration(layers: layers), locations: locations)
            let file = if let file = flags.file { try HostFile.absolute(file) } else { String?.none }
            configuration.flags = Flags(file: file, values: flags.values)
            configuration.places = locations.fromAnywhere
            configuration.number = number
            return try configuration.withDefaultStores()
        }
    }

    /// Changes one value, above all other sources: `try configuration.set("domains.sessions", "memory")`.
    ///
    /// - Throws: `invalidConfiguration` if the outcome is not valid; then nothing has changed.
    public mutating func set(_ path: String, _ value: AnyCodable) throws(StorageError) {
        var changed = self
        changed.layered = try layered.setting(JSONValue(value.content), at: try ConfigurationPath(path).segments)
        try changed.check()
        self = changed
    }

    /// Every problem, with file and place, that shows without a look at plugins.
    package func problems() -> [ConfigurationProblem] { invalidValues() + incomputableSealings() }

    private func invalidValues() -> [ConfigurationProblem] {
        ConfigurationSchema.host.validate(layered) + sealingProblems()
    }

    func check() throws(StorageError) {
        // What the provider cannot compute concerns one store: the others serve.
        if let error = ConfigurationProblem.error(for: invalidValues()) { throw error }
    }
}

extension HostConfiguration.Flags {
    var list: [ConfigurationFlag] {
        (file.map { [.file($0)] } ?? []) + values.map { .assignment($0) }
    }
}

extension HostConfiguration {
    /// The built-in defaults. A folder that the environment does not determine has none.
    static func defaults(_ locations: ConfigurationLocations) -> ConfigurationLayer {
        var value = ConfigurationSchema.host.defaults
        for (domain, store) in standardRoutes { value = value.setting(.string(store), at: ["domains", domain]) }
        for (path, setting) in [
            (["component"], "file"), (["options", "root"], "${data}/keychain"), (["sealing", "source"], "keyFile"),
        ] { value = value.setting(.string(setting), at: ["stores", sealedStore] + path) }
        for (name, path) in [
            ("data", locations.dataDirectory), ("cache", locations.cacheDirectory),
            ("state", locations.stateDirectory), ("config", locations.configurationDirectory),
        ] {
            if let path { value = value.setting(.string(path), at: ["directories", name]) }
        }
        return ConfigurationLayer(.default, source: "default", value: value)
    }

    /// The store of the keychain domain: files, sealed with a key from a key file, so that no daemon is needed.
    static let sealedStore = "sealed-files"

    static var standardRoutes: [(domain: String, store: String)] {
        StorageDomain.standardNames.map { domain in
            switch domain {
            case "keychain": (domain, sealedStore)
            // Many small values.
            case "userDefaults": (domain, "sqlite")
            default: (domain, "file")
            }
        }
    }
}

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
        for domain in StorageDomain.standardNames { try configuration.set("domains.\(domain)", AnyCodable(component)) }
        return configuration
    }
}

extension HostConfiguration {
    /// What the project's own crypto providers offer on no machine, by their ids. What another provider offers shows
    /// when it is opened.
    static let lackingAlgorithms: [String: (ciphers: [AuthenticatedCipher], derivations: [KeyDerivationFunction])] = [
        "openssl": ([.xChaCha20Poly1305], [.argon2id]), "sodium": ([], []),
    ]

    /// The stores whose sealing the configured crypto provider cannot compute: nothing could be stored in them, and
    /// what another provider sealed would not open.
    func incomputableSealings() -> [ConfigurationProblem] {
        guard let provider = try? encryption().provider, let lacking = Self.lackingAlgorithms[provider] else {
            return []
        }
        let anywhere = HostSettings.Folders(data: "/", cache: "/", state: "/", config: "/")
        return ((try? layered.keys(at: ["stores"])) ?? []).sorted().flatMap { name -> [ConfigurationProblem] in
            guard let sealing = try? sealing(ofStore: name, anywhere) else { return [] }
            var problems: [ConfigurationProblem] = []
            func add(_ member: String, _ algorithm: String, others: [String], instead: String) {
                let path = ["stores", name, "sealing", member]
                guard let origin = layered.value(at: path)?.origin else { return }
                problems.append(
                    ConfigurationProblem(
                        path: path, origin: origin,
                        message: "the crypto provider '\(provider)' does not offer \(algorithm)",
                        hint: "set encryption.provider to \(others.joined(separator: " or ")), or use \(instead)"))
            }
            if lacking.ciphers.contains(sealing.cipher) {
                let others = Self.providers { !$0.ciphers.contains(sealing.cipher) }
                add("cipher", sealing.cipher.name, others: others, instead: AuthenticatedCipher.chaCha20Poly1305.name)
            }
            let function = sealing.derivation.function
            if lacking.derivations.contains(function) {
                let others = Self.providers { !$0.derivations.contains(function) }
                let instead = KeyDerivationFunction.pbkdf2HMACSHA256
                add("derivation", "\(function)", others: others, instead: "\(instead)")
            }
            return problems
        }
    }

    private static func providers(
        _ isSuitable: ((ciphers: [AuthenticatedCipher], derivations: [KeyDerivationFunction])) -> Bool
    ) -> [String] { lackingAlgorithms.filter { isSuitable($0.value) }.keys.sorted() }
}

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

internal import LocalDataAPI

/// The shape of a configuration, as data: for checking, for help, and for the built-in defaults.
package struct ConfigurationSchema: Sendable {
    /// The rules, parents before their members.
    package let rules: [ConfigurationRule]

    package init(rules: [ConfigurationRule]) { self.rules = rules }

    /// The rule for a path; nil if the configuration has no such key.
    package func rule(for path: [String]) -> ConfigurationRule? { rules.first { $0.matches(path) } }

    /// The defaults of all keys with a fixed name, as the lowest layer. Defaults of keys below a placeholder, such as
    /// a store's timeout, are with their rule: `defaultValue(at:)`.
    package var defaults: JSONValue {
        rules.reduce(.object([:])) { defaults, rule in
            guard let value = rule.defaultValue, !rule.pattern.contains(where: ConfigurationRule.isPlaceholder) else {
                return defaults
            }
            return defaults.setting(value, at: rule.pattern)
        }
    }

    /// The default at a path.
    package func defaultValue(at path: [String]) -> JSONValue? { rule(for: path)?.defaultValue }

    /// The rules for what may stand directly in the object at a path.
    package func members(of path: [String]) -> [ConfigurationRule] {
        rules.filter { rule in
            rule.pattern.count == path.count + 1
                && zip(rule.pattern, path).allSatisfy { ConfigurationRule.isPlaceholder($0) || $0 == $1 }
        }
    }
}

extension ConfigurationSchema {
    /// The configuration of the host. Defaults that depend on the environment, and the stores of the domains, are in
    /// `HostConfiguration.defaults`.
    package static let host = LastingMemory.make { ConfigurationSchema(rules: hostRules) }

    private static var hostRules: [ConfigurationRule] {
        [
            ConfigurationRule("plugins", .object, "where plugins are searched for"),
            ConfigurationRule(
                "plugins.path", .absolutePaths, default: .array([]),
                "directories and .so files, searched besides the built-in places"),
            ConfigurationRule(
                "plugins.timeout", .seconds(upTo: 3600), default: .double(5), "how long inspecting a plugin may take"),
            ConfigurationRule("stores", .object, "the stores, by a name of your choice"),
            ConfigurationRule("stores.<store>", .object, "one store: a component with its options"),
            ConfigurationRule(
                "stores.<store>.component", .name, isRequired: true, "the id of the component that stores"),
            ConfigurationRule(
                "stores.<store>.options", .freeObject, default: .object([:]), "the component's own options"),
            ConfigurationRule(
                "stores.<store>.sealing", .sealing, default: .null, "how values are sealed; null to keep them plain"),
            ConfigurationRule(
                "stores.<store>.sealing.source", .choice(HostSettings.Sealing.sources), isRequired: true,
                "where the key comes from that seals the store's key ring"),
            ConfigurationRule(
                "stores.<store>.sealing.path", .absolutePath,
                "keyFile: the file; keys/STORE.key below ${config} if not set"
            ),
            ConfigurationRule(
                "stores.<store>.sealing.from", .text, "passphrase: terminal, or fd:N for a file descriptor"),
            ConfigurationRule(
                "stores.<store>.sealing.name", .text,
                "credential: its name in systemd's $CREDENTIALS_DIRECTORY; provider: the id of its KeyMaterialSource"),
            ConfigurationRule(
                "stores.<store>.sealing.service", .text, "keychain: the service that the key is stored under"),
            ConfigurationRule(
                "stores.<store>.sealing.account", .text, "keychain: the name that the key is stored under"),
            ConfigurationRule(
                "stores.<store>.sealing.cipher", .choice(AuthenticatedCipher.all.map(\.name)),
                default: .string(AuthenticatedCipher.chaCha20Poly1305.name), "what seals the values"),
            ConfigurationRule(
                "stores.<store>.sealing.derivation", .choice(KeyDerivation.functions.map(\.description)),
                "how the key comes from the source: HKDF-SHA256 for keys, the others for passphrases"),
            ConfigurationRule(
                "stores.<store>.sealing.iterations", .integer(1...10_000_000),
                "PBKDF2: iterations, 600000 if not set; Argon2id: passes, 3 if not set"),
            ConfigurationRule(
                "stores.<store>.sealing.memory", .integer(1...4096), "Argon2id: memory in MiB, 64 if not set"),
            ConfigurationRule(
                "stores.<store>.concurrency", .integer(1...64), default: .integer(48), "how many calls may run at once"),
            ConfigurationRule(
                "stores.<store>.timeout", .seconds(upTo: 86400), default: .double(10), "how long a call may take"),
            ConfigurationRule("catalogs", .absolutePaths, "manifests that describe the keys of apps"),
            ConfigurationRule("domains", .object, "which store serves which domain"),
            ConfigurationRule("domains.<domain>", .name, "the name of a store, or the id of a component"),
            ConfigurationRule("keychain", .object, "the keychain domain"),
            ConfigurationRule(
                "keychain.service", .text, "the service name of keys without one; the app's id if not set"),
            ConfigurationRule(
                "keychain.accessibility", .choice(["advisory", "refuse"]), default: .string("advisory"),
                "how to treat keys whose accessibility the store cannot enforce"),
            ConfigurationRule(
                "keychain.accessControl", .choice(["advisory", "refuse"]), default: .string("refuse"),
                "how to treat keys with an access control, which no store here can enforce"),
            ConfigurationRule("encryption", .object, "how values are encrypted"),
            ConfigurationRule(
                "encryption.provider", .name, default: .string("openssl"),
                "the id of the crypto component that computes"),
            ConfigurationRule(
                "encryption.service", .text, default: .string(HostSettings.Encryption.defaultService),
                "the keychain service that the master keys are stored under"),
            ConfigurationRule(
                "encryption.account", .text, default: .string(HostSettings.Encryption.defaultAccount),
                "the keychain name that the master keys are stored under"),
            ConfigurationRule(
                "encryption.keyLength", .integer(32...64), default: .integer(32), "bytes of a new master key"),
            ConfigurationRule(
                "encryption.iterations", .integer(1...10_000_000), default: .integer(600_000),
                "PBKDF2 iterations of values that are written"),
            ConfigurationRule("appGroups", .object, "the app group domains"),
            ConfigurationRule("appGroups.default", .text, "the app group of keys without one"),
            ConfigurationRule("appGroups.path", .absolutePath, "the directory that holds the shared containers"),
            ConfigurationRule("files", .object, "the file domains"),
            ConfigurationRule(
                "files.subDirectory", .subdirectory, "the directory of this app below the data directory"),
            ConfigurationRule("directories", .object, "directories in place of those of the XDG specification"),
            ConfigurationRule("directories.data", .absolutePath, "where data is kept"),
            ConfigurationRule("directories.cache", .absolutePath, "where files that can be recreated are kept"),
            ConfigurationRule("directories.state", .absolutePath, "where journals are kept"),
            ConfigurationRule("directories.config", .absolutePath, "the value of ${config} in options"),
            ConfigurationRule("app", .object, "the app that uses the host"),
            ConfigurationRule(
                "app.id", .appIdentifier,
                "the app whose data keys without a suite or folder mean; if not set, the program's name, and none for "
                    + "ld-host"),
            ConfigurationRule("app.version", .text, "its version, for migrations that depend on it"),
            ConfigurationRule("migrations", .object, "how older data is migrated"),
            ConfigurationRule(
                "migrations.dataVersion", .text, "the app version of data that records none"),
            ConfigurationRule(
                "migrations.grace", .integer(0...3650), default: .integer(7),
                "days for which old values are kept, to roll a migration back"),
            ConfigurationRule(
                "migrations.preferences", .freeObject, "what the user chose, for migrations that depend on it"),
            ConfigurationRule("migrations.packs", .object, "the migration packs, by a name of your choice"),
            ConfigurationRule("migrations.packs.<pack>", .object, "one pack: a component with its options"),
            ConfigurationRule(
                "migrations.packs.<pack>.component", .name, isRequired: true, "the id of the component that migrates"),
            ConfigurationRule(
                "migrations.packs.<pack>.options", .freeObject, default: .object([:]), "the component's own options"),
            ConfigurationRule(
                "migrations.packs.<pack>.timeout", .seconds(upTo: 86400), default: .double(300),
                "how long one run of one of its migrations may take"),
            ConfigurationRule("sync", .object, "how values get to the user's other devices"),
            ConfigurationRule(
                "sync.transport", .name, "the id of the component that carries the changes; none if not set"),
            ConfigurationRule("sync.options", .freeObject, default: .object([:]), "the component's own options"),
            ConfigurationRule(
                "sync.maxAutoSyncSize", .integer(0...1 << 30), default: .integer(100_000),
                "bytes up to which values of keys with the policy automaticSmall are synced"),
            ConfigurationRule(
                "sync.forget", .integer(1...3650), default: .integer(180),
                "days after which a device that was away has to join again"),
            ConfigurationRule("device", .object, "the device the host runs on"),
            ConfigurationRule(
                "device.role", .choice(["all", "phone", "watch"]), default: .string("all"),
                "the kind of device keys are limited to"),
            ConfigurationRule("log", .object, "what is logged"),
            ConfigurationRule(
                "log.level", .choice(["debug", "info", "warning", "error", "off"]), default: .string("warning"),
                "the least severe messages that are logged"),
        ]
    }
}

extension ConfigurationSchema {
    /// Everything that is wrong with a document, in the order of the text.
    ///
    /// A document may lack keys: another layer may have them. `validate(_: LayeredConfiguration)` checks that.
    package func validate(
        _ document: ConfigurationDocument, as layer: ConfigurationLayer.Name = .user
    ) -> [ConfigurationProblem] {
        validate(ConfigurationLayer(layer, document))
    }

    /// Everything that is wrong with a layer, in the order of its text.
    package func validate(_ layer: ConfigurationLayer) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        checkMembers(of: layer.value, at: [], in: layer, &problems)
        return problems.sorted { left, right in
            let leftPlace = (left.origin.line ?? 0, left.origin.column ?? 0)
            let rightPlace = (right.origin.line ?? 0, right.origin.column ?? 0)
            if leftPlace != rightPlace { return leftPlace < rightPlace }
            return left.path.lexicographicallyPrecedes(right.path)
        }
    }

    /// Everything that is wrong with all layers, from the weakest on, and then what is missing in the result.
    package func validate(_ configuration: LayeredConfiguration) -> [ConfigurationProblem] {
        var problems = configuration.layers.flatMap(validate)
        for rule in rules where rule.isRequired {
            for path in configuration.paths(matching: rule.pattern.dropLast()) {
                let required = path + [rule.pattern[rule.pattern.count - 1]]
                guard configuration.value(at: required) == nil, let (value, origin) = configuration.value(at: path),
                    case .object = value
                else { continue }
                problems.append(
                    ConfigurationProblem(
                        path: required, origin: origin, message: "expected \(rule.kind.expected), found nothing",
                        hint: "add it: \(rule.help)"))
            }
        }
        return problems
    }

    private func checkMembers(
        of value: JSONValue, at path: [String], in layer: ConfigurationLayer, _ problems: inout [ConfigurationProblem]
    ) {
        guard case .object(let members) = value else { return }
        let rules = members.isEmpty ? [] : self.members(of: path)
        for (key, member) in members {
            let memberPath = path + [key]
            guard let rule = rules.first(where: { $0.matches(memberPath) }) else {
                problems.append(unknown(key, at: memberPath, among: rules, in: layer))
                continue
            }
            if rule.pattern.last.map(ConfigurationRule.isPlaceholder) == true,
                let problem = nameProblem(key, at: memberPath, rule, in: layer)
            {
                problems.append(problem)
            }
            if let fault = rule.kind.fault(in: member) {
                problems.append(wrong(fault, at: memberPath, rule, member, in: layer))
            } else if rule.kind.hasMembers {
                checkMembers(of: member, at: memberPath, in: layer, &problems)
            }
        }
    }

    private func unknown(
        _ key: String, at path: [String], among rules: [ConfigurationRule], in layer: ConfigurationLayer
    ) -> ConfigurationProblem {
        let known = rules.compactMap(\.pattern.last)
        let nearest = EditDistance.nearest(to: key, in: known, within: max(2, key.count / 3))
        return ConfigurationProblem(
            path: path, origin: layer.origin(of: path), message: "unknown key",
            hint: nearest.map { "did you mean '\($0)'?" } ?? "known here: \(known.joined(separator: ", "))")
    }

    private func nameProblem(
        _ key: String, at path: [String], _ rule: ConfigurationRule, in layer: ConfigurationLayer
    ) -> ConfigurationProblem? {
        let origin = layer.origin(of: path)
        if !ConfigurationName.isValid(key) {
            return ConfigurationProblem(
                path: path, origin: origin, message: "the name is not usable",
                hint: "expected \(ConfigurationName.rule)")
        }
        if rule.pattern.last == "<domain>", key.lowercased().hasPrefix(HostSettings.reservedDomains) {
            return ConfigurationProblem(
                path: path, origin: origin, message: "the host keeps its own keys in such domains",
                hint: "use a name that does not start with '\(HostSettings.reservedDomains)'")
        }
        guard rule.pattern.last == "<domain>", let known = ConfigurationName.mistypedDomain(key) else { return nil }
        return ConfigurationProblem(
            path: path, origin: origin, message: "unknown domain",
            hint: "did you mean '\(known)'? otherwise choose a name that is less similar")
    }

    private func wrong(
        _ fault: (path: [String], expected: String, found: String), at path: [String], _ rule: ConfigurationRule,
        _ value: JSONValue,
        in layer: ConfigurationLayer
    ) -> ConfigurationProblem {
        var hint = ""
        if case .choice(let words) = rule.kind, case .string(let word) = value {
            hint = EditDistance.nearest(to: word, in: words, within: 2).map { "did you mean \"\($0)\"?" } ?? ""
        } else if rule.pattern.last == "<domain>", case .object(let members) = value, let inner = members.keys.min() {
            let whole = ConfigurationPath(path.dropLast() + ["\(path[path.count - 1]).\(inner)"])
            hint = "a domain with a dot in its name stands in quotes: \(whole)"
        }
        let place = path + fault.path
        return ConfigurationProblem(
            path: place, origin: layer.origin(of: place, ofValue: true),
            message: "expected \(fault.expected), found \(fault.found)", hint: hint)
    }
}

/// The meaning of one key of the configuration, and the values that it takes.
package struct ConfigurationRule: Sendable {
    /// The key path; a segment in angle brackets, such as `<store>`, stands for any name.
    package let pattern: [String]
    /// The kind of value that it takes.
    package let kind: ConfigurationKind
    /// One sentence for the operator.
    package let help: String
    /// The default; `nil` if it has none.
    package let defaultValue: JSONValue?
    /// Whether the object around it must have it.
    package let isRequired: Bool

    /// - Parameter pattern: The path with dots between its segments.
    package init(
        _ pattern: String, _ kind: ConfigurationKind, default defaultValue: JSONValue? = nil, isRequired: Bool = false,
        _ help: String
    ) {
        self.pattern = pattern.split(separator: ".").map(String.init)
        self.kind = kind
        self.help = help
        self.defaultValue = defaultValue
        self.isRequired = isRequired
    }

    /// Whether the rule speaks of a path.
    package func matches(_ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { Self.isPlaceholder($0) || $0 == $1 }
    }

    /// Whether a segment of a pattern stands for any name.
    package static func isPlaceholder(_ segment: String) -> Bool { segment.hasPrefix("<") }
}

/// A container as data: what ``UserDefaultsContainer`` declares, without its type.
public struct ContainerDefinition: Hashable, Sendable {
    /// A setting.
    public struct Property: Hashable, Sendable {
        /// The property's name.
        public let name: String
        /// The key in the store.
        public let key: String
        /// Whether the code names the key.
        public let isExplicit: Bool
        /// The name of the value's type.
        public let typeName: String
        /// The value while nothing is stored; `nil` if it is unknown.
        public let defaultValue: AnyCodable?
    }

    /// See ``UserDefaultsContainer/name``.
    public let name: String
    /// See ``UserDefaultsContainer/version``.
    public let version: Int
    /// See ``UserDefaultsContainer/prefix``.
    public let prefix: String
    /// See ``UserDefaultsContainer/store``.
    public let store: StorageDomain
    /// See ``UserDefaultsContainer/versionKey``.
    public let versionKey: ContainerVersionKey
    /// See ``UserDefaultsContainer/baseline``.
    public let baseline: Int
    /// See ``UserDefaultsContainer/formerNames``.
    public let formerNames: [String]
    /// See ``UserDefaultsContainer/otherKeys``.
    public let otherKeys: [ContainerKey]
    /// The settings, in the order of their declaration.
    public private(set) var properties: [Property] = []

    /// Describes a container, say as it was in an earlier version.
    ///
    /// - Parameter properties: The names of its settings with the types of their values; add others with
    ///   ``adding(_:key:type:default:)``.
    public init(
        name: String, version: Int = 1, prefix: String = "", store: StorageDomain = .userDefaults(),
        versionKey: ContainerVersionKey? = nil, baseline: Int = 1, formerNames: [String] = [],
        otherKeys: [ContainerKey] = [], properties: KeyValuePairs<String, String> = [:]
    ) {
        (self.name, self.version, self.prefix, self.store) = (name, version, prefix, store)
        self.versionKey = versionKey ?? .container(name, prefix: prefix)
        (self.baseline, self.formerNames, self.otherKeys) = (baseline, formerNames, otherKeys)
        for (property, type) in properties { add(property, key: nil, type: type, default: nil) }
    }

    /// The definition of a type: its settings are found in a new instance of it.
    ///
    /// - Parameter store: Where the settings are, if not in the type's own store.
    public init<Container: UserDefaultsContainer>(of type: Container.Type, in store: StorageDomain? = nil) {
        self.init(of: Container(), in: store)
    }

    init<Container: UserDefaultsContainer>(of container: Container, in store: StorageDomain?) {
        let type = Container.self
        self.init(
            name: type.name, version: type.version, prefix: type.prefix, store: store ?? type.store,
            versionKey: type.versionKey, baseline: type.baseline, formerNames: type.formerNames,
            otherKeys: type.otherKeys)
        for (name, setting) in SettingsMirror(of: container).settings {
            add(name, key: setting.explicitKey, type: setting.typeName, default: setting.defaultContent)
        }
    }

    /// The same with another setting.
    public func adding(
        _ property: String, key: String? = nil, type: String, default value: AnyCodable? = nil
    ) -> ContainerDefinition {
        var definition = self
        definition.add(property, key: key, type: type, default: value)
        return definition
    }

    private mutating func add(_ name: String, key: String?, type: String, default value: AnyCodable?) {
        properties.append(
            Property(
                name: name, key: key.map { prefix + $0 } ?? derivedKey(name), isExplicit: key != nil, typeName: type,
                defaultValue: value))
    }

    /// The key of a setting: its own, or `<prefix><name>.<property>`.
    public func keyFor(_ property: String) -> String {
        properties.first { $0.name == property }?.key ?? derivedKey(property)
    }

    /// The declared value of a setting; `nil` if there is no such setting, or its value is unknown.
    public func defaultValueFor(_ property: String) -> AnyCodable? {
        properties.first { $0.name == property }?.defaultValue
    }

    /// What derived keys begin with.
    package var derivedPrefix: String { "\(prefix)\(name)." }

    private func derivedKey(_ property: String) -> String { derivedPrefix + property }
}

extension ContainerDefinition {
    /// The versions' names in the store: the current one, then earlier ones.
    var versionNames: [String] { [versionKey.name] + versionKey.formerly.map(\.name) }

    /// The stored keys of ``otherKeys``.
    package var otherNames: [String] { otherKeys.map { $0.isStored ? $0.text : keyFor($0.text) } }

    /// Whether a stored key is that of a setting.
    func isSetting(_ key: String) -> Bool { properties.contains { $0.key == key } }

    /// The container's own key that a key with a module in it, `<prefix><module>.<name>.<property>`, stands for, and
    /// the same for what its keys begin with; `nil` for any other key.
    func withoutModule(_ key: String) -> String? {
        guard key.utf8.starts(with: prefix.utf8), !isSetting(key), !otherNames.contains(key) else { return nil }
        let rest = String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        let parts = rest.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1] == name, !parts[0].isEmpty else { return nil }
        return parts.count == 2 ? prefix + name : derivedPrefix + parts[2]
    }

    /// A key behind the prefix without its first component.
    func droppingModule(_ key: String) -> String? {
        guard key.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        guard let dot = rest.firstIndex(of: "."), dot != rest.startIndex else { return nil }
        return prefix + rest[rest.index(after: dot)...]
    }

    /// Whether a stored key is surely one of this container's: the key of a setting, or a derived one.
    func owns(_ key: String) -> Bool {
        key.utf8.starts(with: derivedPrefix.utf8) || properties.contains { $0.key == key } || versionNames.contains(key)
    }

    /// A key of the store that is not one of a setting, with the policy of its domain.
    func key(_ name: String, serializer: SerializerFormat = .data) -> AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: name, domain: store, security: store.ownPolicy, serializer: serializer, owner: "",
                description: "of the container \(self.name)"))
    }

    /// Throws if the container can never work.
    ///
    /// - Throws: `validationFailed` with the container and what is wrong.
    package func validate() throws(MigrationError) {
        func refused(_ what: String) -> MigrationError {
            MigrationError(.validationFailed, "the container '\(name)' \(what)")
        }
        guard !name.isEmpty else { throw refused("has an empty name") }
        guard version >= 1 else { throw refused("has the version \(version); versions begin with 1") }
        guard (1...version).contains(baseline) else {
            throw refused("has the baseline \(baseline); expected 1 to its version, \(version)")
        }
        var known: [String: String] = [:]
        for property in properties {
            let what = "the setting '\(property.name)' with the key '\(property.key)'"
            let isReserved =
                ContainerVersionKey.isReserved(property.key) || ContainerVersionKey.isReserved(property.name)
                || versionNames.contains(property.key)
            guard !isReserved else { throw refused("has \(what), a name that is reserved for versions; rename it") }
            if let other = known.updateValue(property.name, forKey: property.key) {
                throw refused("has \(what), which is also the key of '\(other)'; give one of them another key")
            }
        }
    }
}

/// The differences between two versions of a container.
///
/// A rename is assumed only if one removed and one added setting have the same type and similar names, and neither is
/// similar to another one. Review it: the two may have nothing to do with each other.
///
/// - Returns: Renames, then removed settings, then added ones, each in the order of their declaration. A setting that
///   keeps its name and gets another key is renamed to itself.
public func detectChanges(from previous: ContainerDefinition, to current: ContainerDefinition) -> [ContainerChange] {
    let removed = previous.properties.filter { old in !current.properties.contains { $0.name == old.name } }
    let added = current.properties.filter { new in !previous.properties.contains { $0.name == new.name } }
    func similar(_ old: ContainerDefinition.Property, _ new: ContainerDefinition.Property) -> Bool {
        old.typeName == new.typeName && NameLikeness.areSimilar(old.name, new.name)
    }
    var (renames, gone, new): ([ContainerChange], [ContainerChange], [ContainerChange]) = ([], [], [])
    var taken: Set<String> = []
    for property in previous.properties {
        if let same = current.properties.first(where: { $0.name == property.name }) {
            if same.key != property.key { renames.append(.propertyRenamed(from: property.name, to: property.name)) }
            continue
        }
        let candidates = added.filter { similar(property, $0) }
        guard let only = candidates.first, candidates.count == 1, removed.filter({ similar($0, only) }).count == 1
        else {
            gone.append(.propertyRemoved(property.name))
            continue
        }
        taken.insert(only.name)
        renames.append(.propertyRenamed(from: property.name, to: only.name))
    }
    for property in added where !taken.contains(property.name) { new.append(.propertyAdded(property.name)) }
    return renames + gone + new
}

/// Whether two names may be spellings of one.
enum NameLikeness {
    /// Equal without case and underscores, one a part of the other, or a third of the letters apart at most.
    static func areSimilar(_ first: String, _ second: String) -> Bool {
        let (one, other) = (plain(first), plain(second))
        guard min(one.count, other.count) >= 3 else { return one == other }
        let (short, long) = one.count <= other.count ? (one, other) : (other, one)
        if long.hasPrefix(short) || long.hasSuffix(short) { return true }
        return EditDistance.between(one, other) * 3 <= long.count
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" } }
}

/// A setting of a ``UserDefaultsContainer``.
///
/// ```swift
/// @Setting var theme = "light"              // <prefix><name>.theme
/// @Setting(key: "user_name", description: "The name that others see.") var user = ""  // <prefix>user_name
/// ```
///
/// - **Before the container is open,** reading gives the declared value, and values that are set wait in memory.
/// - **Opening** loads what is stored, and writes what waits.
/// - **After that,** reading gives the value in memory; setting takes effect at once and is written in the background.
///
/// A setting may be used from any thread.
@propertyWrapper
public struct Setting<Value: Codable & Sendable>: Sendable {
    /// Everything besides getting and setting the value: `$theme`.
    public let projectedValue: SettingValue<Value>
    let explicitKey: String?
    let description: String?

    /// Declares a setting with the value that it has while nothing is stored.
    ///
    /// - Parameters:
    ///   - key: The key behind the container's prefix; by default, one derived from the property's name.
    ///   - description: What the setting is for; catalogs and audits show it.
    public init(wrappedValue: Value, key: String? = nil, description: String? = nil) {
        projectedValue = SettingValue(wrappedValue)
        explicitKey = key
        self.description = description
    }

    /// The value in memory.
    public var wrappedValue: Value {
        get { projectedValue.value }
        nonmutating set { projectedValue.value = newValue }
    }
}

/// What a ``Setting`` keeps its value in once its container is open. The host implements it.
package protocol SettingBacking<Value>: AnyObject, Sendable {
    associatedtype Value: Codable & Sendable

    var value: Value { get set }
    var isLoaded: Bool { get }
    var changes: AsyncStream<Value> { get }
    func load() async throws
    func save() async throws
}

/// Creates backings. The host implements it.
package protocol SettingConnector: Sendable {
    func backing<Value: Codable & Sendable>(_ key: StorageKey<Value>, default value: Value) -> any SettingBacking<Value>
}

/// A setting of any type.
protocol AnySetting: Sendable {
    var explicitKey: String? { get }
    var typeName: String { get }
    var defaultContent: AnyCodable? { get }
    func key(of property: String, in container: ContainerDefinition) -> AnyStorageKey
    func bind(_ property: String, of container: ContainerDefinition, _ connector: any SettingConnector) async throws
    func save() async throws
}

extension Setting: AnySetting {
    var typeName: String { String(describing: Value.self) }

    var defaultContent: AnyCodable? {
        let value = projectedValue.defaultValue
        guard let data = try? Serializer<Value>.json.encode(value),
            let content = try? Serializer<AnyCodable>.json.decode(data)
        else { return nil }
        return UnorderedContent.sorted(content, of: value)
    }

    func key(of property: String, in container: ContainerDefinition) -> AnyStorageKey {
        AnyStorageKey(storageKey(of: property, in: container))
    }

    private func storageKey(of property: String, in container: ContainerDefinition) -> StorageKey<Value> {
        StorageKey(
            name: container.keyFor(property), domain: container.store, security: container.store.ownPolicy,
            owner: container.name, description: description ?? "the setting '\(property)' of \(container.name)")
    }

    func bind(_ property: String, of container: ContainerDefinition, _ connector: any SettingConnector) async throws {
        let key = storageKey(of: property, in: container)
        try await projectedValue.bind { connector.backing(key, default: $0) }
    }

    func save() async throws { try await projectedValue.save() }
}

/// The settings of a container, found by reflection.
struct SettingsMirror {
    let settings: [(name: String, setting: any AnySetting)]

    init(of container: some UserDefaultsContainer) {
        settings = Mirror(reflecting: container).children.compactMap { label, value in
            guard let label, let setting = value as? any AnySetting else { return nil }
            // The storage of a wrapped property has its name behind an underscore.
            return (label.hasPrefix("_") ? String(label.dropFirst()) : label, setting)
        }
    }
}

extension UserDefaultsContainer {
    /// Connects every setting to its store, reads what is stored, and writes what was set before.
    package func connect(_ definition: ContainerDefinition, with connector: any SettingConnector) async throws {
        for (name, setting) in SettingsMirror(of: self).settings {
            try await setting.bind(name, of: definition, connector)
        }
    }

    /// Waits until all settings are written.
    ///
    /// - Throws: `unsupported` if the container is not open; what the last write of a setting threw.
    public func save() async throws {
        for (_, setting) in SettingsMirror(of: self).settings { try await setting.save() }
    }
}

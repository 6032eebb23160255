#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The store that a ``ContainerStep`` works on: the stored values as they are, with the step's own changes on top.
/// Nobody else sees these before all of them and the new version take effect as one.
///
/// It reads what is stored; defaults, declared or registered, count as nothing. It never replaces a value by moving
/// another one there: that is an error that names both keys.
public final class ContainerStore: Sendable {
    /// The container as the code has it.
    public let container: ContainerDefinition
    /// The version before the step.
    public let from: Int
    /// The version after the step.
    public let to: Int
    /// The app, the device, and when what was migrated.
    public let context: MigrationContext

    /// The step that runs in this task.
    @TaskLocal static var running: ContainerStore?

    let transaction: any StorageProviding
    /// The other containers that are known to be in the same places.
    let others: [ContainerDefinition]
    /// The type's own store, if the container is in another one.
    let defaultStore: StorageDomain
    private let scheme: ContainerDefinition

    init(
        _ chain: ContainerChain, _ step: ContainerStep, _ transaction: any StorageProviding, _ context: MigrationContext
    ) {
        container = chain.container
        others = chain.others
        defaultStore = chain.defaultStore
        self.transaction = transaction
        self.context = context
        (from, to) = (step.from, step.to)
        let isOther = step.prefix != nil || step.name != nil
        // Explicit keys are those of the code, so they say nothing about a scheme that it no longer has.
        scheme =
            isOther
            ? ContainerDefinition(
                name: step.name ?? container.name, prefix: step.prefix ?? container.prefix, store: container.store)
            : container
    }

    /// The stored key that a step's key stands for.
    public func storedKey(_ key: ContainerKey) -> String { key.isStored ? key.text : scheme.keyFor(key.text) }

    /// The stored keys of the container's store that begin with a prefix, in the order of their bytes; without those of
    /// versions.
    public func names(prefix: String = "") async throws -> [String] {
        try await transaction.names(in: container.store, prefix: prefix).filter { !isVersion($0) }
    }

    /// The stored value; `nil` if the key has none.
    ///
    /// - Throws: `deserializationFailed` if the value has another type.
    public func get<Value: Codable & Sendable>(_ key: ContainerKey, as type: Value.Type = Value.self) async throws
        -> Value?
    {
        let key = typed(key)
        guard let data = try await transaction.data(for: key) else { return nil }
        return try key.value(type, from: data)
    }

    /// Stores a value, replacing the old one.
    public func set<Value: Codable & Sendable>(_ value: Value, for key: ContainerKey) async throws {
        try await transaction.setData(try Serializer<Value>.json.encode(value), for: typed(try allowed(key)))
    }

    /// Stores a value if none is stored.
    public func setDefault<Value: Codable & Sendable>(_ value: Value, for key: ContainerKey) async throws {
        guard try await !exists(key) else { return }
        try await set(value, for: key)
        try await (transaction as? any MovingTransaction)?.setOrigin(of: typed(key), to: nil)
    }

    /// Whether a value is stored.
    public func exists(_ key: ContainerKey) async throws -> Bool {
        try await transaction.exists(container.key(storedKey(key)))
    }

    /// Removes a value; removing an absent one is fine.
    public func remove(_ key: ContainerKey) async throws {
        try await transaction.remove(container.key(storedKey(try allowed(key))))
    }

    private func typed(_ key: ContainerKey) -> AnyStorageKey { container.key(storedKey(key), serializer: .json) }

    /// The key, unless it is one of a version: the runner keeps those.
    func allowed(_ key: ContainerKey) throws(MigrationError) -> ContainerKey {
        let name = storedKey(key)
        guard !isVersion(name) else {
            throw failure("changes '\(container.store)/\(name)', which is reserved for versions")
        }
        return key
    }

    /// Whether a stored key is that of a version.
    func isVersion(_ name: String) -> Bool {
        ContainerVersionKey.isReserved(name) || ([container] + others).contains { $0.versionNames.contains(name) }
    }

    /// What went wrong in this step.
    func failure(_ what: String) -> MigrationError {
        MigrationError(.validationFailed, "the step \(from) -> \(to) of the container '\(container.name)' \(what)")
    }
}

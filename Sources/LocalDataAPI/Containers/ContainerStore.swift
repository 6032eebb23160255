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
    /// The names of earlier version keys.
    let formerVersionNames: Set<String>
    /// Takes note of what the step says, if it only runs for that.
    let probe: ContainerProbe?
    /// The keys to which the step moves or stores values.
    let trace: SharedContainerTrace
    /// The container as the step's short names mean it.
    let scheme: ContainerDefinition

    init(
        _ chain: ContainerChain, _ step: ContainerStep, _ transaction: any StorageProviding,
        _ context: MigrationContext, probe: ContainerProbe? = nil, trace: SharedContainerTrace = SharedContainerTrace()
    ) {
        container = chain.container
        others = chain.others
        defaultStore = chain.defaultStore
        self.transaction = transaction
        self.context = context
        (from, to) = (step.from, step.to)
        (self.probe, self.trace) = (probe, trace)
        formerVersionNames = Set(chain.formerVersionKeys.map(\.name))
        scheme = chain.scheme(of: step)
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
        let key = typed(try await name(reading: key))
        guard let data = try await transaction.data(for: key) else { return nil }
        return try key.value(type, from: data)
    }

    /// Stores a value, replacing the old one.
    public func set<Value: Codable & Sendable>(_ value: Value, for key: ContainerKey) async throws {
        let name = name(writing: try allowed(key))
        trace.write(name, by: text)
        try await transaction.setData(try Serializer<Value>.json.encode(value), for: typed(name))
    }

    /// Stores a value if none is stored.
    public func setDefault<Value: Codable & Sendable>(_ value: Value, for key: ContainerKey) async throws {
        let name = name(writing: try allowed(key))
        trace.write(name, by: text)
        guard try await !transaction.exists(container.key(name)) else { return }
        try await transaction.setData(try Serializer<Value>.json.encode(value), for: typed(name))
        try await (transaction as? any MovingTransaction)?.setOrigin(of: typed(name), to: nil)
    }

    /// Whether a value is stored.
    public func exists(_ key: ContainerKey) async throws -> Bool {
        try await transaction.exists(container.key(try await name(reading: key)))
    }

    /// Removes a value; removing an absent one is fine.
    public func remove(_ key: ContainerKey) async throws {
        let name = try await name(reading: try allowed(key))
        trace.take(name)
        try await transaction.remove(container.key(name))
    }

    private func typed(_ name: String) -> AnyStorageKey { container.key(name, serializer: .json) }

    /// The stored key to read. One with a module in it is the container's own, unless a value is stored under it:
    /// earlier programs derived such keys.
    func name(reading key: ContainerKey) async throws -> String {
        let name = storedKey(key)
        guard let own = scheme.withoutModule(name), try await !transaction.exists(container.key(name)) else {
            return name
        }
        return own
    }

    /// The stored key to write: never one with a module in it, which no setting has.
    func name(writing key: ContainerKey) -> String {
        let name = storedKey(key)
        return scheme.withoutModule(name) ?? name
    }

    /// The step in errors.
    var text: String { "the step \(from) -> \(to)" }

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
        MigrationError(.validationFailed, "\(text) of the container '\(container.name)' \(what)")
    }
}

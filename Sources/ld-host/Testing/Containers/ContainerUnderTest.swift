public import LocalDataAPI
public import LocalDataHost

/// Tests the steps of a container: fills a store in memory as an earlier release left it, runs the steps, and compares.
///
/// ```swift
/// let subject = ContainerUnderTest(MySettings.self)
/// let after = try await subject.migrate(from: 1, ["userName": "alice", "theme": "dark"])
/// #expect(after == ["MyApp.MySettings.username": "alice", "MyApp.MySettings.theme": "dark"])
/// ```
///
/// A version alone stands for what the release of that version stored, as far as the steps say: under the prefix and
/// with the version key that it had before they changed. If they do not say it, hand over that release's container:
///
/// ```swift
/// let first = ContainerDefinition(name: "OldSettings", prefix: "MyApp.", properties: ["theme": "String"])
/// let after = try await ContainerUnderTest(MySettings.self).migrate(from: first, ["theme": "dark"])
/// ```
///
/// Besides running the steps, it checks what every container promises: that each step can be undone, that a second run
/// has nothing to do, and that the container opens then.
public struct ContainerUnderTest<Container: UserDefaultsContainer>: Sendable {
    /// Values by stored key.
    public typealias Values = [String: AnyCodable]

    private let router: @Sendable () async throws -> StorageRouter

    /// - Parameter router: Gives the router of each run, with empty stores; by default one in memory.
    public init(
        _ type: Container.Type, router: @escaping @Sendable () async throws -> StorageRouter = { try await .inMemory() }
    ) { self.router = router }

    /// Runs the steps on stored values, and returns what is stored then, without the version.
    ///
    /// - Parameters:
    ///   - version: The version that the store has; `nil` for none, as data has that was stored before there were
    ///     versions.
    ///   - values: What is stored, by the names that steps use: a setting's name, or a stored key.
    ///   - other: What is stored in other places, say for a merge, by address `domain[:scope]/key`.
    /// - Throws: What a step throws; `validationFailed` with what the container does not keep.
    public func migrate(
        from version: Int?, _ values: Values, besides other: Values = [:]
    ) async throws -> Values {
        try await migrate(try await filled(version, values, other))
    }

    /// The same with what a release has stored whose container is known: under its keys, with its version key.
    public func migrate(
        from release: ContainerDefinition, _ values: Values, besides other: Values = [:]
    ) async throws -> Values {
        try await migrate(try await filled(release, values, other))
    }

    private func migrate(_ router: StorageRouter) async throws -> Values {
        let before = try await content(router)
        let progress = try await UserDefaultsMigrationManager.migrateIfNeeded(Container.self, in: router)
        let after = try await content(router)
        for _ in progress.steps { try await UserDefaultsMigrationManager.rollback(Container.self, in: router) }
        try require(try await content(router) == before, "its steps, undone, do not leave what was there before")
        try await UserDefaultsMigrationManager.migrateIfNeeded(Container.self, in: router)
        try require(try await content(router) == after, "its steps lead to something else when they run again")
        let again = try await UserDefaultsMigrationManager.migrateIfNeeded(Container.self, in: router)
        try require(again.steps.isEmpty, "a second run has something to do")
        _ = try await Container.open(in: router)
        return after
    }

    /// Opens the container on stored values, to compare its settings.
    public func open(from version: Int?, _ values: Values, besides other: Values = [:]) async throws -> Container {
        try await Container.open(in: try await filled(version, values, other))
    }

    /// The same with what a release has stored whose container is known.
    public func open(
        from release: ContainerDefinition, _ values: Values, besides other: Values = [:]
    ) async throws -> Container {
        try await Container.open(in: try await filled(release, values, other))
    }

    /// A router whose store has values as an earlier release has left them.
    private func filled(_ version: Int?, _ values: Values, _ other: Values) async throws -> StorageRouter {
        let router = try await router()
        let definition = Container.definition
        let past = try await ContainerChain(definition, Container.steps).past(
            version ?? definition.baseline, in: router)
        return try await fill(router, version, past, values, other)
    }

    private func filled(
        _ release: ContainerDefinition, _ values: Values, _ other: Values
    ) async throws -> StorageRouter {
        try await fill(try await router(), release.version, PastContainer(release), values, other)
    }

    private func fill(
        _ router: StorageRouter, _ version: Int?, _ past: PastContainer, _ values: Values, _ other: Values
    ) async throws -> StorageRouter {
        for (name, value) in values { try await set(value, past.name(of: ContainerKey(name)), past.store, router) }
        for (address, value) in other {
            let descriptor = try StorageKeyDescriptor(address: address)
            try await set(value, descriptor.name, descriptor.domain, router)
        }
        if let version {
            try await set(AnyCodable(version), past.versionKey, past.store, router)
        }
        return router
    }

    private func set(_ value: AnyCodable, _ name: String, _ domain: StorageDomain, _ router: StorageRouter) async throws
    {
        try await router.set(value, for: key(name, domain))
    }

    private func content(_ router: StorageRouter) async throws -> Values {
        let domain = Container.store
        var values: Values = [:]
        for name in try await router.names(in: domain, prefix: "") where !ContainerVersionKey.isReserved(name) {
            values[name] = try await router.get(key(name, domain))
        }
        return values
    }

    private func key(_ name: String, _ domain: StorageDomain) -> StorageKey<AnyCodable> {
        StorageKey(
            name: name, domain: domain, security: domain.ownPolicy, owner: Container.name,
            description: "a value of a test")
    }

    private func require(_ isSo: Bool, _ what: String) throws(MigrationError) {
        guard !isSo else { return }
        throw MigrationError(.validationFailed, "the container '\(Container.name)': \(what)")
    }
}

/// A step that takes a container's data from one version to the next.
///
/// ```swift
/// static let steps = [
///     ContainerStep(from: 1, to: 2, [.rename("userName", to: "username")]),
///     ContainerStep(from: 2, to: 3) { store in
///         guard let retries: Int = try await store.get("retries") else { return }
///         try await store.set(min(retries, 10), for: "maxRetries")
///         try await store.remove("retries")
///     },
/// ]
/// ```
///
/// A step runs on a transaction: nothing takes effect before all of it and the new version do. It may run more than
/// once, for a plan and when another process changes what it reads, so it changes nothing but its store.
public struct ContainerStep: Sendable {
    /// The version before it.
    public let from: Int
    /// The version after it: `from` + 1.
    public let to: Int
    /// The prefix under which the step's short names are looked up, if it is not the container's.
    public let prefix: String?
    /// The type's name under which the step's short names are looked up, if it is not the container's.
    public let name: String?
    /// What it changes, if it is declared rather than programmed.
    public let changes: [ContainerEdit]?

    private let body: (@Sendable (ContainerStore) async throws -> Void)?

    /// A step that calls a function.
    ///
    /// - Parameters:
    ///   - prefix: The prefix that short names had then; by default the container's.
    ///   - name: The type's name then; by default the container's.
    public init(
        from: Int, to: Int, prefix: String? = nil, name: String? = nil,
        _ body: @escaping @Sendable (ContainerStore) async throws -> Void
    ) {
        (self.from, self.to, self.prefix, self.name) = (from, to, prefix, name)
        self.body = body
        changes = nil
    }

    /// A step that makes changes in their order.
    public init(from: Int, to: Int, prefix: String? = nil, name: String? = nil, _ changes: [ContainerEdit]) {
        (self.from, self.to, self.prefix, self.name) = (from, to, prefix, name)
        self.changes = changes
        body = nil
    }

    /// A step that a type's ``ContainerMigration`` makes, which gets the container as it was and as it became.
    ///
    /// - Parameter current: The container after the step; by default as the code has it.
    public init(
        from: Int, to: Int, by type: any ContainerMigration.Type, previous: ContainerDefinition,
        current: ContainerDefinition? = nil
    ) {
        self.init(from: from, to: to) { store in
            try await type.migrate(from: previous, to: current ?? store.container, using: store)
        }
    }

    /// Makes the step's changes.
    func run(on store: ContainerStore) async throws {
        try await ContainerStore.$running.withValue(store) {
            try await body?(store)
            for change in changes ?? [] { try await change.make(on: store) }
        }
    }
}

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

/// One declared change of a ``ContainerStep``.
public enum ContainerEdit: Hashable, Sendable {
    /// Moves values to other keys, all at once: `[("a", "b"), ("b", "a")]` swaps two.
    case renames([ContainerRename])
    /// Moves all values whose keys begin with a prefix; see ``ContainerStore/movePrefix(_:to:except:)``.
    case prefix(String, to: String)
    /// Removes a value.
    case remove(ContainerKey)
    /// Stores a value if none is stored.
    case setDefault(ContainerKey, AnyCodable)
    /// Moves a value to another place, or from one: an address `domain[:scope]/key` in place of one of the keys.
    case move(from: String, to: String)

    /// Moves a value to another key.
    public static func rename(_ old: ContainerKey, to new: ContainerKey) -> ContainerEdit {
        .renames([ContainerRename(old, to: new)])
    }

    /// Exchanges two values.
    public static func swap(_ first: ContainerKey, _ second: ContainerKey) -> ContainerEdit {
        .renames([ContainerRename(first, to: second), ContainerRename(second, to: first)])
    }

    /// Moves all values whose keys begin with a prefix.
    public static func movePrefix(_ old: String, to new: String) -> ContainerEdit { .prefix(old, to: new) }

    package func make(on store: ContainerStore) async throws {
        switch self {
        case .renames(let renames): try await store.renameAll(renames.map { ($0.from, $0.to) })
        case .prefix(let old, let new): try await store.movePrefix(old, to: new)
        case .remove(let key): try await store.remove(key)
        case .setDefault(let key, let value): try await store.setDefault(value, for: key)
        case .move(let from, let to): try await store.move(from, to: to)
        }
    }
}

/// One move of several that are made at once.
public struct ContainerRename: Hashable, Sendable {
    /// The key before.
    public let from: ContainerKey
    /// The key after.
    public let to: ContainerKey

    /// A move.
    public init(_ from: ContainerKey, to: ContainerKey) {
        self.from = from
        self.to = to
    }
}

/// A key of a container as a step names it.
///
/// A name without a dot is short: `"theme"` stands for the key of the setting `theme`. Any other is the stored key:
/// `"MyApp.MySettings.theme"`. Use ``stored(_:)`` for a stored key without a dot.
public struct ContainerKey: Hashable, Sendable {
    /// The name as given.
    public let text: String
    /// Whether it is the stored key, whatever it contains.
    public let isStored: Bool

    /// A short name, or a stored key with a dot.
    public init(_ text: String) { (self.text, isStored) = (text, text.utf8.contains(UInt8(ascii: "."))) }

    private init(stored text: String) { (self.text, isStored) = (text, true) }

    /// A stored key, e.g. one without a dot.
    public static func stored(_ key: String) -> ContainerKey { ContainerKey(stored: key) }
}

extension ContainerKey: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A short name, or a stored key with a dot.
    public init(stringLiteral text: String) { self.init(text) }

    /// The name as given.
    public var description: String { text }
}

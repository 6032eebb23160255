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

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Values that change their keys, all at once.
struct ContainerMove {
    private let moves: [(from: AnyStorageKey, to: AnyStorageKey)]

    init(_ moves: [(AnyStorageKey, AnyStorageKey)]) { self.moves = moves.map { (from: $0.0, to: $0.1) } }

    /// A value on its way.
    private struct Cargo {
        let from: AnyStorageKey
        let to: AnyStorageKey
        let data: Data
        let attributes: ValueAttributes?
        /// Where the value is stored, if an earlier change of the step has moved it.
        let origin: AnyStorageKey?
    }

    /// Looks at all values, and then moves all of them.
    func make(in store: ContainerStore) async throws {
        let moves = moves.filter { $0.from.address != $0.to.address }
        try check(moves, store)
        let transaction = store.transaction as? any MovingTransaction
        var cargo: [Cargo] = []
        for (from, to) in moves {
            guard let data = try await store.transaction.data(for: from) else { continue }
            let attributes = try await store.transaction.attributes(of: from)
            let origin = try await transaction?.origin(of: from)
            cargo.append(Cargo(from: from, to: to, data: data, attributes: attributes, origin: origin))
        }
        let leaving = Set(cargo.map(\.from.address))
        for value in cargo where !leaving.contains(value.to.address) {
            guard try await !store.transaction.exists(value.to) else {
                throw Self.collision(
                    store,
                    "moves '\(value.from.address)' to '\(value.to.address)', which has a value already; remove one of "
                        + "them in the step before that")
            }
        }
        let arriving = Set(cargo.map(\.to.address))
        for value in cargo where !arriving.contains(value.from.address) {
            try await store.transaction.remove(value.from)
        }
        for value in cargo {
            let isSwapped = leaving.contains(value.to.address) || arriving.contains(value.from.address)
            try await put(value, in: store, isSwapped: isSwapped)
            try await transaction?.setOrigin(of: value.to, to: value.origin)
        }
    }

    /// Of a value whose old key is removed, the transaction keeps all that is recorded. Of one that takes the place of
    /// another one that moves, too, or whose place such a one takes, its format and version tag are kept.
    private func put(_ value: Cargo, in store: ContainerStore, isSwapped: Bool) async throws {
        guard isSwapped, let attributes = value.attributes,
            let format = attributes.serializer.flatMap({ SerializerFormat(rawValue: $0) }), format != .data
        else { return try await store.transaction.setData(value.data, for: value.to) }
        let key = value.to.serialized(format)
        guard (try? key.check(value.data)) != nil else {
            return try await store.transaction.setData(value.data, for: value.to)
        }
        try await store.transaction.setData(value.data, versionTag: attributes.versionTag, for: key)
    }

    /// Whether every value has one way to go, and stays protected.
    private func check(
        _ moves: [(from: AnyStorageKey, to: AnyStorageKey)], _ store: ContainerStore
    ) throws(MigrationError) {
        if let collision = Self.collision(of: moves.map { ($0.from.address, $0.to.address) }) {
            throw Self.collision(store, collision)
        }
        for (from, to) in moves {
            try MigrationUtils.validateCompatibility(from: from.descriptor, to: to.descriptor, allowingOtherTypes: true)
        }
    }

    /// What some moves do that no moves at once can: two to one key, or one to two; `nil` if they do not.
    static func collision(of moves: [(from: String, to: String)]) -> String? {
        var (sources, destinations): ([String: String], [String: String]) = ([:], [:])
        for (from, to) in moves {
            if let other = sources.updateValue(to, forKey: from) {
                return "moves '\(from)' to '\(other)' and to '\(to)'; a value has one place"
            }
            if let other = destinations.updateValue(from, forKey: to) {
                return "moves '\(other)' and '\(from)' to '\(to)'; a key has one value"
            }
        }
        return nil
    }

    private static func collision(_ store: ContainerStore, _ what: String) -> MigrationError {
        MigrationError(.conflict, store.failure(what).message)
    }
}

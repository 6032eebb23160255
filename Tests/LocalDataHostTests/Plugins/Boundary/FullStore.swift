import FoundationEssentials
import LocalDataAPI
import Synchronization

/// A store in memory with every ability, so that tests can use each of them across the boundary.
final class FullStore: StorageBackend {
    static let component = ComponentInfo(id: "full", summary: "a store with every ability")

    struct Value: Sendable {
        let data: Data
        let attributes: ValueAttributes
        let version: Int
    }

    struct Watcher: Sendable {
        let place: StorageNamespace
        let prefix: String
        let changed: @Sendable (String?) -> Void
    }

    struct State: Sendable {
        var values: [StorageAddress: Value] = [:]
        var versions: [StorageAddress: Int] = [:]
        var watchers: [Int: Watcher] = [:]
        var count = 0
    }

    let properties = StoreProperties(
        latency: .memory, isDurable: false, isShared: false, isKeychain: true, largestValue: 8 << 20)
    let state = Mutex(State())

    init(options: ComponentOptions, host: HostServices) {}

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool {
        guard let data = state.withLock({ $0.values[key]?.data }) else { return false }
        deliver(data.bytes)
        return true
    }

    func exists(_ key: StorageAddress) -> Bool { state.withLock { $0.values[key] != nil } }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) {
        let data = value.withUnsafeBytes { Data($0) }
        _ = state.withLock { Self.put(data, attributes, at: key, in: &$0) }
    }

    func remove(_ key: StorageAddress) -> Bool { state.withLock { Self.put(nil, nil, at: key, in: &$0) } }

    /// Replaces a value, notifies the watchers, and returns whether there was a value before.
    @discardableResult
    static func put(
        _ data: Data?, _ attributes: ValueAttributes?, at key: StorageAddress, in state: inout State
    ) -> Bool {
        state.count += 1
        let old = state.values[key]
        state.versions[key] = state.count
        var kept = attributes ?? ValueAttributes()
        kept.size = data.map { UInt64($0.count) }
        kept.modified = Int64(state.count)
        state.values[key] = data.map { Value(data: $0, attributes: kept, version: state.count) }
        for watcher in state.watchers.values
        where watcher.place == key.place && key.name.utf8.starts(with: watcher.prefix.utf8) {
            watcher.changed(key.name)
        }
        return old != nil
    }
}

extension FullStore: EnumerableBackend, AttributedBackend, BatchBackend {
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) {
        let names = state.withLock { Array($0.values.keys) }.filter { address in
            address.place == place && address.name.utf8.starts(with: prefix.utf8)
                && after.map { $0.utf8.lexicographicallyPrecedes(address.name.utf8) } ?? true
        }.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names.prefix(limit ?? names.count) where !body(name) { return }
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) {
        for place in Set(state.withLock { Array($0.values.keys) }.map(\.place)) where !body(place) { return }
    }

    func attributes(of key: StorageAddress) -> ValueAttributes? { state.withLock { $0.values[key]?.attributes } }

    func apply(_ changes: [StorageChange<StorageAddress>]) throws {
        // This name cannot be written, so that a batch can fail in its middle.
        if changes.contains(where: { $0.key.name == "full" }) { throw StorageError(.noSpace, "the store is full") }
        state.withLock { state in
            for change in changes { Self.put(change.value, change.attributes, at: change.key, in: &state) }
        }
    }
}

extension FullStore: StreamingBackend, WatchableBackend {
    /// Pieces of a size that divides nothing evenly.
    static let pieceSize = 100_003

    func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) -> Bool {
        guard var rest = state.withLock({ $0.values[key]?.data }) else { return false }
        while !rest.isEmpty {
            let piece = Data(rest.prefix(Self.pieceSize))
            guard body(piece.bytes) else { return true }
            rest = rest.dropFirst(piece.count)
        }
        return true
    }

    func write(
        _ key: StorageAddress, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        var data = Data()
        try source { piece in piece.withUnsafeBytes { data.append(contentsOf: $0) } }
        _ = state.withLock { Self.put(data, attributes, at: key, in: &$0) }
    }

    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> Int {
        guard prefix != "refused" else { throw StorageError(.busy, "too many watches") }
        return state.withLock { state in
            state.count += 1
            state.watchers[state.count] = Watcher(place: place, prefix: prefix, changed: changed)
            return state.count
        }
    }

    func unwatch(_ watch: Int) { state.withLock { $0.watchers[watch] = nil } }
}

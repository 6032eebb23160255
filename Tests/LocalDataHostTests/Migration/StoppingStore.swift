import FoundationEssentials
import LocalDataAPI
import Synchronization

/// A store in memory that refuses all changes after a number of changes, as if its disk failed or its process was
/// killed, until it may resume. It has no batches, so each change is made separately.
final class StoppingStore: AttributedBackend, EnumerableBackend {
    static let component = ComponentInfo(id: "stopping", summary: "a store that stops")

    private struct State {
        var left = Int.max
        var altered: String?
        var hasRefused = false
    }

    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)
    private let values: FullStore
    private let state = Mutex(State())

    init(options: ComponentOptions, host: HostServices) { values = FullStore(options: options, host: host) }

    /// Makes so many changes from now on, and refuses all later ones.
    func stop(after count: Int) { state.withLock { ($0.left, $0.hasRefused) = (count, false) } }

    /// Whether no change was refused since ``stop(after:)``.
    var isGoingOn: Bool { state.withLock { !$0.hasRefused } }

    /// Makes every change from now on.
    func goOn() { state.withLock { $0.left = .max } }

    /// Stores other bytes than those that are written under a name.
    func alter(_ name: String) { state.withLock { $0.altered = name } }

    /// The number of values in the namespaces of a domain.
    func count(in domain: String) -> Int {
        values.state.withLock { $0.values.keys.filter { $0.place.domain == domain }.count }
    }

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool { values.get(key, deliver) }

    func exists(_ key: StorageAddress) -> Bool { values.exists(key) }

    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
        try change()
        guard state.withLock({ $0.altered == key.name }) else {
            return values.set(key, to: value, attributes: attributes)
        }
        let other = Data("\"something else\"".utf8)
        values.set(key, to: other.bytes, attributes: attributes)
    }

    func remove(_ key: StorageAddress) throws -> Bool {
        try change()
        return values.remove(key)
    }

    func attributes(of key: StorageAddress) -> ValueAttributes? { values.attributes(of: key) }

    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) { values.forEachName(in: place, prefix: prefix, after: after, limit: limit, body) }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) { values.forEachPlace(body) }

    private func change() throws {
        try state.withLock { state in
            guard state.left > 0 else {
                state.hasRefused = true
                throw StorageError(.fileError, "the store has stopped")
            }
            state.left -= 1
        }
    }
}

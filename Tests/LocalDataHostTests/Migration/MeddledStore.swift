import FoundationEssentials
import LocalDataAPI
import Synchronization

/// A store in memory with bulk reads and changes, which runs a test's code around each bulk change.
final class MeddledStore: AttributedBackend, EnumerableBackend, BatchBackend, BulkBackend {
    static let component = ComponentInfo(id: "meddled", summary: "a store in which something happens")

    /// Code that runs around the change with a number, from 0.
    typealias Meddling = @Sendable (_ number: Int, FullStore) throws -> Void

    private struct State {
        var count = 0
        var before: Meddling = { _, _ in }
        var after: Meddling = { _, _ in }
    }

    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)
    let values: FullStore
    private let state = Mutex(State())

    init() { values = FullStore(options: ComponentOptions(), host: HostServices(name: "tests", version: "0")) }

    init(options: ComponentOptions, host: HostServices) { values = FullStore(options: options, host: host) }

    /// Sets the code that runs before and after later changes; the next change has the number 0.
    func meddle(before: @escaping Meddling = { _, _ in }, after: @escaping Meddling = { _, _ in }) {
        state.withLock { $0 = State(before: before, after: after) }
    }

    /// The number of bulk changes since then.
    var count: Int { state.withLock { $0.count } }

    func apply(_ changes: BulkChanges) throws -> [Int] {
        let (number, state) = state.withLock { state in
            defer { state.count += 1 }
            return (state.count, state)
        }
        try state.before(number, values)
        let conflicts = try values.apply(changes)
        try state.after(number, values)
        return conflicts
    }

    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: BulkBackend.Taker
    ) { values.forEachValue(in: place, prefix: prefix, after: after, largest: largest, body) }

    func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) -> Bool { values.get(key, deliver) }
    func exists(_ key: StorageAddress) -> Bool { values.exists(key) }
    func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) {
        values.set(key, to: value, attributes: attributes)
    }
    func remove(_ key: StorageAddress) -> Bool { values.remove(key) }
    func attributes(of key: StorageAddress) -> ValueAttributes? { values.attributes(of: key) }
    func apply(_ changes: [StorageChange<StorageAddress>]) throws { try values.apply(changes) }
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) { values.forEachName(in: place, prefix: prefix, after: after, limit: limit, body) }
    func forEachPlace(_ body: (StorageNamespace) -> Bool) { values.forEachPlace(body) }
}

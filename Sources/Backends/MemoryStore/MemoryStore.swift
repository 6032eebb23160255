internal import FoundationEssentials
public import LocalDataPluginAPI
internal import Synchronization

/// Keeps values in memory for the life of the process. The smallest real store, and the model for others.
final class MemoryStore: EnumerableBackend, AttributedBackend, BatchBackend, ConditionalBackend, WatchableBackend {
    static let component = ComponentInfo(
        id: "memory", summary: "keeps values in memory until the process ends; each configured store has its own")

    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)

    /// Cells by address. An empty cell that nobody has resolved is dropped when the table has doubled.
    private struct Table {
        var cells: [StorageAddress: MemoryCell] = [:]
        /// The same cells for listings.
        var listings: [StorageNamespace: MemoryListing] = [:]
        var sweepAt = 1024
        /// Where the revisions of the next cell's values start, far from those of any other cell.
        var firstRevision = UInt64.random(in: .min ... .max)
    }

    private let table = Mutex(Table())
    /// Locked while a batch is applied, so that two batches do not mix.
    private let batch = Mutex(())
    private let watches = WatchList()
    /// Whether there may be values that expire.
    private let hasExpiring = Atomic(false)

    init(options: ComponentOptions, host: HostServices) {}

    func resolve(_ address: StorageAddress) -> MemoryCell {
        table.withLock { table in
            if let cell = table.cells[address] { return cell }
            if table.cells.count >= table.sweepAt { Self.sweep(&table) }
            table.firstRevision &+= 0x9e37_79b9_7f4a_7c15
            let cell = MemoryCell(address, firstRevision: table.firstRevision)
            table.cells[address] = cell
            table.listings[address.place, default: MemoryListing()].add(cell)
            return cell
        }
    }

    func get(_ key: MemoryCell, _ deliver: (RawSpan) -> Void) throws -> Bool {
        guard let data = try key.value?.data else { return false }
        deliver(data.bytes)
        return true
    }

    func get(_ key: MemoryCell, _ deliver: (UInt64, ValueAttributes, RawSpan) -> Void) throws -> Bool {
        guard let (value, revision) = try key.revisioned else { return false }
        deliver(revision, value.attributes, value.data.bytes)
        return true
    }

    func exists(_ key: MemoryCell) throws -> Bool { try key.value != nil }

    func set(_ key: MemoryCell, to value: RawSpan, attributes: ValueAttributes?) {
        _ = set(key, to: value, attributes: attributes, if: .anything)
    }

    func set(
        _ key: MemoryCell, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) -> UInt64? {
        let value = MemoryCell.Value(data: value.withUnsafeBytes { Data($0) }, attributes: attributes)
        if value.expires != .max { hasExpiring.store(true, ordering: .sequentiallyConsistent) }
        guard let change = key.replace(with: value, if: condition) else { return nil }
        watches.tell(of: key.address)
        return change.revision
    }

    func remove(_ key: MemoryCell) -> Bool { remove(key, if: .anything) }

    func remove(_ key: MemoryCell, ifRevision revision: UInt64) -> Bool { remove(key, if: .revision(revision)) }

    private func remove(_ key: MemoryCell, if condition: WriteCondition) -> Bool {
        guard let change = key.replace(with: nil, if: condition), change.hadValue else { return false }
        watches.tell(of: key.address)
        return true
    }

    func attributes(of key: MemoryCell) throws -> ValueAttributes? { try key.value?.attributes }

    func apply(_ changes: [StorageChange<MemoryCell>]) {
        batch.withLock { _ in
            for change in changes {
                let value = change.value.map { MemoryCell.Value(data: $0, attributes: change.attributes) }
                if let value, value.expires != .max { hasExpiring.store(true, ordering: .sequentiallyConsistent) }
                _ = change.key.replace(with: value, if: .anything)
            }
        }
        for change in changes { watches.tell(of: change.key.address) }
    }

    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) -> WatchList.Watch { watches.begin(place, prefix: prefix, changed) }

    func unwatch(_ watch: WatchList.Watch) { watches.end(watch) }

    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) {
        let cells = table.withLock { $0.listings[place]?.ordered() ?? [] }
        var left = limit ?? .max
        for cell in cells[MemoryListing.start(of: prefix, after: after, in: cells)...] {
            guard left > 0, cell.address.name.utf8.starts(with: prefix.utf8) else { return }
            guard cell.isPresent else { continue }
            guard body(cell.address.name) else { return }
            left -= 1
        }
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) {
        let cells = table.withLock { $0.cells }
        let places = Set(cells.lazy.filter { $0.value.isPresent }.map { $0.key.place })
        for place in places where !body(place) { return }
    }

    private static func sweep(_ table: inout Table) {
        table.listings = [:]
        for address in Array(table.cells.keys) {
            guard var cell = table.cells.removeValue(forKey: address) else { continue }
            guard !cell.isEmpty || !isKnownUniquelyReferenced(&cell) else { continue }
            table.cells[address] = cell
            table.listings[address.place, default: MemoryListing()].add(cell)
        }
        table.sweepAt = max(1024, table.cells.count * 2)
    }
}

extension MemoryStore: ExpiringBackend {
    func discard(_ key: MemoryCell) {
        if key.discard() { watches.tell(of: key.address) }
    }

    func sweep(_ place: StorageNamespace?, limit: Int) -> Int {
        guard hasExpiring.exchange(false, ordering: .sequentiallyConsistent) else { return 0 }
        var removed = 0
        var isAnyLeft = false
        for (address, cell) in table.withLock({ $0.cells }) where cell.expires {
            if removed < limit, place.map({ $0 == address.place }) ?? true, cell.discard() {
                removed += 1
                watches.tell(of: address)
            } else {
                isAnyLeft = true
            }
        }
        if isAnyLeft { hasExpiring.store(true, ordering: .sequentiallyConsistent) }
        return removed
    }

    func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) {
        let cells = table.withLock { $0.cells }
        for (address, cell) in cells where address.place == place && !cell.isEmpty && !cell.isPresent {
            guard body(address.name) else { return }
        }
    }
}

extension Plugin.Component {
    /// The store, for a plugin and for programs that link it.
    public static var memoryStore: Plugin.Component { .storage(MemoryStore.self) }
}

internal import FoundationEssentials
internal import LocalDataAPI
internal import Synchronization

/// Keeps values in memory for the life of the process. The smallest real store, and the model for others.
final class MemoryStore: EnumerableBackend, AttributedBackend, BatchBackend, WatchableBackend {
    static let component = ComponentInfo(
        id: "memory", summary: "keeps values in memory until the process ends; each configured store has its own")

    let properties = StoreProperties(latency: .memory, isDurable: false, isShared: false)

    /// Cells by address. An empty cell that nobody has resolved is dropped when the table has doubled.
    private struct Table {
        var cells: [StorageAddress: MemoryCell] = [:]
        var sweepAt = 1024
    }

    private let table = Mutex(Table())
    /// Locked while a batch is applied, so that two batches do not mix.
    private let batch = Mutex(())
    private let watches = WatchList()

    init(options: ComponentOptions, host: HostServices) {}

    func resolve(_ address: StorageAddress) -> MemoryCell {
        table.withLock { table in
            if let cell = table.cells[address] { return cell }
            if table.cells.count >= table.sweepAt { Self.sweep(&table) }
            let cell = MemoryCell(address)
            table.cells[address] = cell
            return cell
        }
    }

    func get(_ key: MemoryCell, _ deliver: (RawSpan) -> Void) -> Bool {
        guard let data = key.value?.data else { return false }
        deliver(data.bytes)
        return true
    }

    func exists(_ key: MemoryCell) -> Bool { key.value != nil }

    func set(_ key: MemoryCell, to value: RawSpan, attributes: ValueAttributes?) {
        key.replace(with: MemoryCell.Value(data: value.withUnsafeBytes { Data($0) }, attributes: attributes))
        watches.tell(of: key.address)
    }

    func remove(_ key: MemoryCell) -> Bool {
        let wasThere = key.replace(with: nil)
        if wasThere { watches.tell(of: key.address) }
        return wasThere
    }

    func attributes(of key: MemoryCell) -> ValueAttributes? { key.value?.attributes }

    func apply(_ changes: [StorageChange<MemoryCell>]) {
        batch.withLock { _ in
            for change in changes {
                change.key.replace(
                    with: change.value.map { MemoryCell.Value(data: $0, attributes: change.attributes) })
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
        let cells = table.withLock { $0.cells }
        let names = cells.lazy.filter { address, cell in
            address.place == place && address.name.utf8.starts(with: prefix.utf8) && cell.value != nil
                && after.map { $0.utf8.lexicographicallyPrecedes(address.name.utf8) } ?? true
        }.map { $0.key.name }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in sorted.prefix(limit ?? sorted.count) where !body(name) { return }
    }

    func forEachPlace(_ body: (StorageNamespace) -> Bool) {
        let cells = table.withLock { $0.cells }
        let places = Set(cells.lazy.filter { $0.value.value != nil }.map { $0.key.place })
        for place in places where !body(place) { return }
    }

    private static func sweep(_ table: inout Table) {
        for address in Array(table.cells.keys) {
            guard var cell = table.cells.removeValue(forKey: address) else { continue }
            if cell.value != nil || !isKnownUniquelyReferenced(&cell) { table.cells[address] = cell }
        }
        table.sweepAt = max(1024, table.cells.count * 2)
    }
}

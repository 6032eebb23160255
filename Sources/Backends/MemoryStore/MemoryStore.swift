internal import FoundationEssentials
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Keeps values in memory for the life of the process. The smallest real store, and the model for others.
final class MemoryStore: EnumerableBackend, TaggedBackend, BatchBackend, WatchableBackend {
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

    func get(_ key: MemoryCell, _ deliver: (String?, RawSpan) -> Void) -> Bool {
        guard let value = key.value else { return false }
        deliver(value.attributes.versionTag, value.data.bytes)
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

/// The cell of one value. Cells have their own locks, so that different keys never wait for each other.
final class MemoryCell: Sendable {
    /// A value with its attributes; an object, so that a reader takes one reference and releases the lock.
    final class Value: Sendable {
        let data: Data
        let attributes: ValueAttributes

        init(data: Data, attributes: ValueAttributes?) {
            self.data = data
            var attributes = attributes ?? ValueAttributes()
            attributes.size = UInt64(data.count)
            attributes.modified = Self.now
            self.attributes = attributes
        }

        private static var now: Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    let address: StorageAddress
    private let content = Mutex<Value?>(nil)
    /// Keeps the locks of two cells on separate cache lines: otherwise readers of different keys could slow each other
    /// down, depending on the cells' addresses.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    init(_ address: StorageAddress) { self.address = address }

    /// The current value.
    var value: Value? { content.withLock { $0 } }

    /// Replaces the value; returns whether there was one.
    @discardableResult
    func replace(with value: Value?) -> Bool {
        content.withLock { content in
            defer { content = value }
            return content != nil
        }
    }
}

/// The watches of a store. While there are none, a change only reads one number.
final class WatchList: Sendable {
    /// Identifies a watch.
    struct Watch: Hashable {
        fileprivate let number: Int
    }

    private struct Watcher {
        let place: StorageNamespace
        let prefix: String
        let changed: @Sendable (String?) -> Void
    }

    private struct State {
        var next = 0
        var watchers: [Watch: Watcher] = [:]
    }

    /// Locked while watches are notified, so that none is called after it has ended.
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    func begin(
        _ place: StorageNamespace, prefix: String, _ changed: @escaping @Sendable (String?) -> Void
    ) -> Watch {
        state.withLock { state in
            state.next += 1
            let watch = Watch(number: state.next)
            state.watchers[watch] = Watcher(place: place, prefix: prefix, changed: changed)
            count.store(state.watchers.count, ordering: .sequentiallyConsistent)
            return watch
        }
    }

    func end(_ watch: Watch) {
        state.withLock { state in
            state.watchers[watch] = nil
            count.store(state.watchers.count, ordering: .sequentiallyConsistent)
        }
    }

    /// Notifies the watches of a name, on the calling thread.
    func tell(of address: StorageAddress) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        state.withLock { state in
            for watcher in state.watchers.values
            where watcher.place == address.place && address.name.utf8.starts(with: watcher.prefix.utf8) {
                watcher.changed(address.name)
            }
        }
    }
}

extension Plugin.Component {
    /// The store, for a plugin and for programs that link it.
    package static var memoryStore: Plugin.Component { .storage(MemoryStore.self) }
}

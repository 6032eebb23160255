internal import FoundationEssentials
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Keeps values in memory for the life of the process. The smallest real store, and the model for others.
final class MemoryStore: EnumerableBackend, TaggedBackend, BatchBackend, ConditionalBackend, WatchableBackend {
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

    func get(_ key: MemoryCell, _ deliver: (String?, RawSpan) -> Void) throws -> Bool {
        guard let value = try key.value else { return false }
        deliver(value.attributes.versionTag, value.data.bytes)
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

/// The cell of one value. Cells have their own locks, so that different keys never wait for each other.
final class MemoryCell: Sendable {
    /// A value with its attributes; an object, so that a reader takes one reference and releases the lock.
    final class Value: Sendable {
        let data: Data
        let attributes: ValueAttributes
        /// In nanoseconds since 1970 UTC; the largest number if it never expires.
        let expires: Int64

        init(data: Data, attributes: ValueAttributes?) {
            self.data = data
            var attributes = attributes ?? ValueAttributes()
            attributes.size = UInt64(data.count)
            attributes.modified = Moment.now
            self.attributes = attributes
            expires = attributes.expires ?? .max
        }

        /// Whether its time is over.
        var isExpired: Bool { expires != .max && expires <= Moment.now }
    }

    private struct Content {
        var value: Value?
        /// Of the value, or of the last one.
        var revision: UInt64

        /// Whether a value is there that has not expired.
        var isPresent: Bool { value.map { !$0.isExpired } ?? false }
    }

    let address: StorageAddress
    private let content: Mutex<Content>
    /// Keeps the locks of two cells on separate cache lines: otherwise readers of different keys could slow each other
    /// down, depending on the cells' addresses.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    init(_ address: StorageAddress, firstRevision: UInt64) {
        self.address = address
        content = Mutex(Content(value: nil, revision: firstRevision))
    }

    /// The current value.
    ///
    /// - Throws: `ValueExpired`.
    var value: Value? {
        get throws {
            guard let value = content.withLock({ $0.value }) else { return nil }
            if value.isExpired { throw ValueExpired() }
            return value
        }
    }

    /// The current value and its revision.
    ///
    /// - Throws: `ValueExpired`.
    var revisioned: (value: Value, revision: UInt64)? {
        get throws {
            let content = content.withLock { $0 }
            guard let value = content.value else { return nil }
            if value.isExpired { throw ValueExpired() }
            return (value, content.revision)
        }
    }

    /// Whether a value is there that has not expired.
    var isPresent: Bool { content.withLock { $0.isPresent } }

    /// Whether nothing is there, not even an expired value.
    var isEmpty: Bool { content.withLock { $0.value == nil } }

    /// Whether its value has a time to expire.
    var expires: Bool { content.withLock { $0.value.map { $0.expires != .max } ?? false } }

    /// Replaces or removes the value, if it fulfils a condition.
    ///
    /// - Returns: Whether there was one, and the new revision; `nil` if it does not.
    func replace(with value: Value?, if condition: WriteCondition) -> (hadValue: Bool, revision: UInt64)? {
        content.withLock { content in
            let hadValue = content.isPresent
            guard condition.isFulfilled(by: hadValue ? content.revision : nil) else { return nil }
            content.value = value
            content.revision &+= 1
            if content.revision == 0 { content.revision = 1 }
            return (hadValue, content.revision)
        }
    }

    /// Removes the value if it has expired; returns whether it has.
    func discard() -> Bool {
        content.withLock { content in
            guard content.value?.isExpired ?? false else { return false }
            content.value = nil
            content.revision &+= 1
            return true
        }
    }
}

/// The cells of a namespace in the order of their names, so that a page costs what it holds and not what the namespace
/// does.
struct MemoryListing {
    private var cells: [MemoryCell] = []
    /// Those that came after the last call of ``ordered()``.
    private var added: [MemoryCell] = []

    mutating func add(_ cell: MemoryCell) { added.append(cell) }

    /// All cells in order.
    mutating func ordered() -> [MemoryCell] {
        guard !added.isEmpty else { return cells }
        added.sort(by: Self.precedes)
        var merged: [MemoryCell] = []
        merged.reserveCapacity(cells.count + added.count)
        var next = 0
        for cell in cells {
            while next < added.count, Self.precedes(added[next], cell) {
                merged.append(added[next])
                next += 1
            }
            merged.append(cell)
        }
        merged.append(contentsOf: added[next...])
        cells = merged
        added = []
        return cells
    }

    /// Where the names with a prefix that come after another begin in cells in order.
    static func start(of prefix: String, after: String?, in cells: [MemoryCell]) -> Int {
        var (low, high) = (0, cells.count)
        while low < high {
            let middle = (low + high) / 2
            let name = cells[middle].address.name.utf8
            let isBefore = after.map { !$0.utf8.lexicographicallyPrecedes(name) } ?? false
            if isBefore || name.lexicographicallyPrecedes(prefix.utf8) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func precedes(_ left: MemoryCell, _ right: MemoryCell) -> Bool {
        left.address.name.utf8.lexicographicallyPrecedes(right.address.name.utf8)
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

package import FoundationEssentials
internal import Glibc
public import LocalDataAPI
internal import Synchronization

/// A store in memory with every ability, for tests of code that uses a store. Every instance has its own values.
///
/// It is open: override a method to create a store that misbehaves in exactly one way.
open class InMemoryStore: EnumerableBackend, AttributedBackend, StreamingBackend, BatchBackend, BulkBackend,
    ConditionalBackend, ExpiringBackend, LockingBackend, WatchableBackend, TransactionalBackend, @unchecked Sendable
{
    // Unchecked because it is open: its own state is constant and synchronized, and subclasses must synchronize theirs.
    private let contents: InMemoryContents

    /// The component's id is `in-memory`.
    open class var component: ComponentInfo {
        ComponentInfo(id: "in-memory", summary: "keeps values in memory, with every ability, for tests")
    }

    /// In memory, neither durable nor shared, without a limit.
    open var properties: StoreProperties { StoreProperties(latency: .memory, isDurable: false, isShared: false) }

    /// Creates an empty store.
    public init() { contents = InMemoryContents() }

    /// Creates an empty store; it has no options.
    public required init(options: ComponentOptions, host: HostServices) throws { contents = InMemoryContents() }

    /// Creates a store that shares its contents with others.
    package init(sharing contents: InMemoryContents) { self.contents = contents }

    // The protocols document what each method does.

    /// Uses the address as it is.
    open func resolve(_ address: StorageAddress) throws -> StorageAddress { address }

    /// Passes the value.
    open func get(_ key: StorageAddress, _ deliver: (RawSpan) -> Void) throws -> Bool {
        guard let data = try contents.entry(key)?.data else { return false }
        deliver(data.bytes)
        return true
    }

    /// Whether a value exists.
    open func exists(_ key: StorageAddress) throws -> Bool { try contents.entry(key) != nil }

    /// Stores a value.
    open func set(_ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?) throws {
        try refuse(value.byteCount, key)
        _ = try contents.change([(key, .init(value.withUnsafeBytes { Data($0) }, attributes))])
    }

    /// Removes the value.
    open func remove(_ key: StorageAddress) throws -> Bool {
        guard contents.versioned(key).entry != nil else { return false }
        return try contents.change([(key, nil)])[0]
    }

    /// Passes the names of a namespace.
    open func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        let names = contents.keys.lazy.filter { $0.place == place && $0.name.utf8.starts(with: prefix.utf8) }
            .map(\.name).filter { name in after.map { $0.utf8.lexicographicallyPrecedes(name.utf8) } ?? true }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names.prefix(limit ?? names.count) where !body(name) { return }
    }

    /// Passes the namespaces that hold a value.
    open func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        for place in Set(contents.keys.map(\.place)) where !body(place) { return }
    }

    /// The attributes of a value.
    open func attributes(of key: StorageAddress) throws -> ValueAttributes? { try contents.entry(key)?.attributes }

    /// Passes the value in pieces of 64 KiB.
    open func read(_ key: StorageAddress, _ body: (RawSpan) -> Bool) throws -> Bool {
        guard let data = try contents.entry(key)?.data else { return false }
        for start in stride(from: 0, to: data.count, by: 65_536) {
            guard body(data[start..<min(start + 65_536, data.count)].bytes) else { return true }
        }
        return true
    }

    /// Stores a value that arrives in pieces.
    open func write(
        _ key: StorageAddress, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        var data = Data()
        try source { piece in
            piece.withUnsafeBytes { data.append(contentsOf: $0) }
            try refuse(data.count, key)
        }
        _ = try contents.change([(key, .init(data, attributes))])
    }

    /// Applies changes as one step.
    open func apply(_ changes: [StorageChange<StorageAddress>]) throws {
        for change in changes { try refuse(change.value?.count ?? 0, change.key) }
        _ = try contents.change(
            changes.map { change in (change.key, change.value.map { .init($0, change.attributes) }) })
    }

    /// Passes the values of a namespace with the numbers of their last changes.
    open func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker
    ) throws {
        for (name, entry, version) in contents.values(in: place, prefix: prefix, after: after) {
            let name = Data(name.utf8)
            let continues =
                entry.data.count > largest
                ? body(name.bytes, nil, entry.attributes, version)
                : body(name.bytes, entry.data.bytes, entry.attributes, version)
            guard continues else { return }
        }
    }

    /// Applies changes as one step, if all conditions are fulfilled.
    open func apply(_ changes: BulkChanges) throws -> [Int] { try make(InMemoryChange.all(of: changes)) }

    /// Applies changes with their own bytes as one step, if all conditions are fulfilled.
    package final func make(_ changes: [InMemoryChange]) throws -> [Int] {
        for change in changes { try refuse(change.value?.count ?? 0, change.key) }
        return contents.change(
            changes.map { change in
                (change.key, change.value.map { .init($0, change.attributes) }, change.condition)
            })
    }

    /// Passes the whole value with its revision and its attributes.
    open func get(
        _ key: StorageAddress, _ deliver: (_ revision: UInt64, _ attributes: ValueAttributes, _ value: RawSpan) -> Void
    ) throws -> Bool {
        guard try contents.entry(key) != nil else { return false }
        let (entry, version) = contents.versioned(key)
        guard let entry else { return false }
        deliver(version, entry.attributes, entry.data.bytes)
        return true
    }

    /// Stores a value if a condition is fulfilled.
    open func set(
        _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> UInt64? {
        try refuse(value.byteCount, key)
        return contents.change(key, to: .init(value.withUnsafeBytes { Data($0) }, attributes), if: condition)
    }

    /// Removes the value if it has a revision.
    open func remove(_ key: StorageAddress, ifRevision revision: UInt64) throws -> Bool {
        contents.change(key, to: nil, if: .revision(revision)) != nil
    }

    /// Removes the value if it has expired.
    open func discard(_ key: StorageAddress) throws { _ = contents.sweep { $0 == key } }

    /// Removes expired values.
    open func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int {
        contents.sweep(limit: limit) { key in place.map { $0 == key.place } ?? true }
    }

    /// Passes the names of expired values.
    open func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) throws {
        for name in contents.expired(in: place) where !body(name) { return }
    }

    /// Takes a lock; looks again each millisecond while another holds it.
    open func lock(_ name: String, in place: StorageNamespace, waiting wait: Duration) throws -> InMemoryLock? {
        let lock = InMemoryLock(address: StorageAddress(place, name: name))
        let end = ContinuousClock.now + wait
        while !contents.take(lock) {
            guard ContinuousClock.now < end else { return nil }
            usleep(1000)
        }
        return lock
    }

    /// Whether a lock is held.
    open func isHeld(_ lock: InMemoryLock) throws -> Bool { contents.holds(lock) }

    /// Gives a lock back.
    open func unlock(_ lock: InMemoryLock) { contents.giveBack(lock) }

    /// Reports changes, on the thread that makes them.
    open func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> Int { contents.watch(place, prefix, changed) }

    /// Ends a watch.
    open func unwatch(_ watch: Int) { contents.unwatch(watch) }

    /// Begins a transaction.
    open func begin() throws -> InMemoryTransaction { InMemoryTransaction() }

    /// The value as the transaction sees it.
    open func get(
        _ key: StorageAddress, in transaction: InMemoryTransaction, _ deliver: (RawSpan) -> Void
    ) throws -> Bool {
        guard let data = value(of: key, in: transaction)?.data else { return false }
        deliver(data.bytes)
        return true
    }

    /// Stores a value when the transaction commits.
    open func set(
        _ key: StorageAddress, to value: RawSpan, attributes: ValueAttributes?, in transaction: InMemoryTransaction
    ) throws {
        try refuse(value.byteCount, key)
        _ = self.value(of: key, in: transaction)
        let entry = InMemoryContents.Entry(value.withUnsafeBytes { Data($0) }, attributes)
        transaction.state.withLock { $0.changes[key] = .some(entry) }
    }

    /// Removes a value when the transaction commits.
    open func remove(_ key: StorageAddress, in transaction: InMemoryTransaction) throws -> Bool {
        let had = value(of: key, in: transaction) != nil
        transaction.state.withLock { $0.changes[key] = .some(nil) }
        return had
    }

    /// Applies the changes as one step.
    open func commit(_ transaction: InMemoryTransaction) throws {
        let state = transaction.state.withLock { $0 }
        _ = try contents.change(state.changes.map { ($0.key, $0.value) }, ifUnchanged: state.seen)
    }

    /// Discards the changes.
    open func rollback(_ transaction: InMemoryTransaction) {}

    private func value(of key: StorageAddress, in transaction: InMemoryTransaction) -> InMemoryContents.Entry? {
        let now = contents.versioned(key)
        return transaction.state.withLock { state in
            if let change = state.changes[key] { return change }
            if state.seen[key] == nil { state.seen[key] = now.version }
            return now.entry
        }
    }

    private func refuse(_ size: Int, _ key: StorageAddress) throws {
        guard let largest = properties.largestValue, size > largest else { return }
        throw StorageError(
            .valueTooLarge, "'\(key)': the value has \(size) bytes; the store accepts at most \(largest)")
    }
}

/// One change of an ``InMemoryStore``'s bulk change, with its own copy of the bytes.
package struct InMemoryChange: Sendable {
    package var key: StorageAddress
    /// `nil` removes the value.
    package var value: Data?
    package var attributes: ValueAttributes?
    /// What the change requires when it is applied.
    package var condition: WriteCondition

    /// Copies borrowed changes.
    package static func all(of changes: BulkChanges) throws -> [InMemoryChange] {
        var all: [InMemoryChange] = []
        all.reserveCapacity(changes.count)
        try changes.forEach { _, change, name, value in
            let name = name.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            all.append(
                InMemoryChange(
                    key: StorageAddress(changes.places[change.place], name: name),
                    value: value?.withUnsafeBytes { Data($0) }, attributes: change.attributes,
                    condition: change.condition))
        }
        return all
    }
}

package import CLocalData

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A store that keeps attributes beside its values. Ability `localdata.store.attributes/1`.
public protocol AttributedBackend: StorageBackend {
    /// The attributes of a stored value, or `nil` if there is no value. The store fills in `size` and `modified`. The
    /// rest is what the last `set` passed, or `nil` where the store does not keep it.
    func attributes(of key: Key) throws -> ValueAttributes?
}

/// A store that applies many changes at once. Ability `localdata.store.batch/1`.
public protocol BatchBackend: StorageBackend {
    /// Applies the changes in order, all or none, even across a crash. The last change of a key wins.
    func apply(_ changes: [StorageChange<Key>]) throws
}

/// A store that reads and changes many values in one call, for the bulk migration of a namespace. Ability
/// `localdata.store.bulk/1`.
public protocol BulkBackend: StorageBackend {
    /// Receives one value and returns whether to continue.
    typealias Taker = (_ name: RawSpan, _ value: RawSpan?, _ attributes: ValueAttributes?, _ revision: UInt64) -> Bool

    /// Passes the values in `place` whose names start with `prefix` and sort after `after` to `body`, until it returns
    /// `false`. The names ascend by their UTF-8 bytes, and all values are of one moment. An unknown namespace has no
    /// values.
    ///
    /// - Parameter largest: The most bytes of a value. A larger value is passed as `nil`, and so is a corrupt one;
    ///   reading the value by itself reports what is wrong.
    /// - Parameter body: Receives a name, its value, its attributes if the store keeps any, and its revision: as
    ///   ``ConditionalBackend``'s.
    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker) throws

    /// Applies the changes in order, all or none, even across a crash. The last change of a name wins.
    ///
    /// - Returns: The indices of the changes whose condition is not fulfilled. If there are any, nothing has changed.
    func apply(_ changes: BulkChanges) throws -> [Int]
}

/// Changes of many values, lent to a ``BulkBackend`` for the duration of a call.
public struct BulkChanges {
    /// A change without its bytes.
    public struct Change {
        /// The value's namespace: an index into ``BulkChanges/places``.
        public let place: Int
        /// What the change requires of the stored value.
        public let condition: WriteCondition
        /// The value's new attributes.
        public let attributes: ValueAttributes?
    }

    /// The namespaces of all changes.
    public let places: [StorageNamespace]
    private let changes: UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>
    private let numbers: [UnsafePointer<ld_namespace>?: Int]

    /// The number of changes.
    public var count: Int { changes.count }

    /// - Throws: `invalidAddress` if a namespace exceeds the limits that every store can rely on.
    package init(_ changes: UnsafeBufferPointer<UnsafePointer<ld_bulk_change>?>) throws {
        self.changes = changes
        var (places, numbers) = ([StorageNamespace](), [UnsafePointer<ld_namespace>?: Int]())
        var last: UnsafePointer<ld_namespace>?
        for change in changes {
            guard let change else { throw StorageError(.unsupported, "a change at the plugin boundary is missing") }
            guard change.pointee.flags & ~(LD_BULK_REMOVE | LD_BULK_EXPECT) == 0 else {
                throw StorageError(
                    .unsupported, "a change at the plugin boundary has the unknown flags \(change.pointee.flags)")
            }
            let place = change.pointee.place
            // Most changes are in the same namespace as the one before.
            guard place != last || places.isEmpty else { continue }
            last = place
            guard numbers[place] == nil else { continue }
            numbers[place] = places.count
            places.append(try StorageNamespace(place))
        }
        (self.places, self.numbers) = (places, numbers)
    }

    /// Passes each change to `body` with the bytes of its name and of its value, which is `nil` to remove the value.
    /// The bytes stay valid until the call that lent the changes returns.
    ///
    /// - Throws: `invalidAddress` for an invalid name, and what `body` throws.
    public func forEach(
        _ body: (_ index: Int, _ change: Change, _ name: RawSpan, _ value: RawSpan?) throws -> Void
    ) throws {
        var attributes: (pointer: UnsafePointer<ld_attributes>, value: ValueAttributes)?
        var place: (pointer: UnsafePointer<ld_namespace>?, number: Int) = (nil, 0)
        for (index, pointer) in changes.enumerated() {
            guard let change = pointer?.pointee else { continue }
            if change.place != place.pointer { place = (change.place, numbers[change.place] ?? 0) }
            if let pointer = change.attributes, pointer != attributes?.pointer {
                attributes = (pointer, try ValueAttributes(pointer))
            }
            try StorageAddress.validate(name: change.name, in: places[place.number])
            let condition: WriteCondition =
                change.flags & LD_BULK_EXPECT == 0 ? .anything : change.mark == 0 ? .absent : .revision(change.mark)
            let isRemoval = change.flags & LD_BULK_REMOVE != 0
            try body(
                index,
                Change(
                    place: place.number, condition: condition,
                    attributes: change.attributes == nil ? nil : attributes?.value),
                change.name.bytes().bytes, isRemoval ? nil : change.value.bytes().bytes)
        }
    }
}

extension StorageAddress {
    /// Throws `invalidAddress` unless the name keeps the limits that every store can rely on.
    fileprivate static func validate(name: ld_bytes, in place: StorageNamespace) throws {
        let bytes = try name.bytes()
        if let start = bytes.baseAddress, !bytes.isEmpty, bytes.count <= longestName,
            memchr(start, 0, bytes.count) == nil,
            (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil
        {
            return
        }
        guard let text = name.text else {
            throw StorageError(.invalidAddress, "a name in '\(place)' at the plugin boundary is not UTF-8")
        }
        try StorageAddress(place, name: text).validate()
    }
}

/// A store that can check its data for damage. Ability `localdata.store.check/1`.
public protocol CheckableBackend: StorageBackend {
    /// Checks all data without changing it, and calls `report` with one line per problem until `report` returns
    /// `false`. A line contains names, never values. May take long; other callers can use the store meanwhile. Throws
    /// if the check itself fails.
    func check(_ report: (String) -> Bool) throws
}

/// A store that can list what it holds. Ability `localdata.store.enumeration/1`.
public protocol EnumerableBackend: StorageBackend {
    /// Passes the names in `place` that start with `prefix` and sort after `after` to `body`, at most `limit` of them,
    /// until it returns `false`. The names ascend by their UTF-8 bytes. A name that exists throughout the call is
    /// passed exactly once; one that is added or removed meanwhile may be missing. An unknown namespace has no names.
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool) throws

    /// Passes every namespace that holds a value and has no `directory` to `body`, in any order, until it returns
    /// `false`.
    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws
}

/// A store that can repair damage that blocks changes. Ability `localdata.store.repair/1`.
public protocol RepairableBackend: StorageBackend {
    /// Discards what cannot be saved, and no more; keeps it beside the store where it can. Calls `report` with a line
    /// for each step, and not at all if nothing needed repair. The host calls it only at a person's request. May wait,
    /// and may take long. Throws if the store cannot be repaired.
    func repair(_ report: (String) -> Void) throws
}

/// One change in a batch.
public struct StorageChange<Key: Sendable>: Sendable {
    /// The key that changes.
    public let key: Key
    /// The new value, or `nil` to remove it; removing an absent value is fine.
    public let value: Data?
    /// The value's attributes.
    public let attributes: ValueAttributes?

    /// Describes a change.
    public init(key: Key, value: Data?, attributes: ValueAttributes? = nil) {
        self.key = key
        self.value = value
        self.attributes = attributes
    }
}

/// A store that reads and writes values in pieces, so that they need not fit in memory. Ability
/// `localdata.store.streaming/1`.
public protocol StreamingBackend: StorageBackend {
    /// Passes the value to `body` in pieces, in order, until `body` returns `false`, and returns `true`; returns
    /// `false` if there is no value. All pieces belong to one value, even if it is replaced meanwhile.
    func read(_ key: Key, _ body: (RawSpan) -> Bool) throws -> Bool

    /// Stores the value that `source` supplies. `source` calls its argument once per piece, in order, and returns at
    /// the end, or throws to give up; then the old value stays. Readers see nothing of the value before the end.
    func write(
        _ key: Key, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void) throws
}

/// A store that returns a value and its version tag in one call, so that both belong to the same write. Ability
/// `localdata.store.tagged/1`.
public protocol TaggedBackend: AttributedBackend {
    /// As `get`, with the `versionTag` of the value's attributes; `nil` if none is known.
    func get(_ key: Key, _ deliver: (_ versionTag: String?, _ value: RawSpan) -> Void) throws -> Bool
}

/// A store with transactions. Ability `localdata.store.transactions/1`.
public protocol TransactionalBackend: StorageBackend {
    /// An open transaction, used by one thread at a time.
    associatedtype Transaction: Sendable

    /// Begins a transaction.
    func begin() throws -> Transaction
    /// As `get`, but sees the transaction's own changes.
    func get(_ key: Key, in transaction: Transaction, _ deliver: (RawSpan) -> Void) throws -> Bool
    /// As `set`, but only the transaction sees the change until it commits.
    func set(_ key: Key, to value: RawSpan, attributes: ValueAttributes?, in transaction: Transaction) throws
    /// As `remove`, but only the transaction sees the change until it commits.
    func remove(_ key: Key, in transaction: Transaction) throws -> Bool
    /// Applies the changes, all or none, and ends the transaction. Throws `busy` if another writer changed a value that
    /// it read or changed.
    func commit(_ transaction: Transaction) throws
    /// Ends the transaction without effect.
    func rollback(_ transaction: Transaction)
}

/// A store that records a checksum with each value and verifies it. Ability `localdata.store.verification/1`.
///
/// Such a store never returns a corrupt value as sound: `get` and `read` fail with `corrupt`, `read` at the end at the
/// latest, and a bulk read passes `nil` for its bytes.
public protocol VerifiableBackend: StorageBackend {
    /// Reads the whole value and compares it with the record; `nil` if there is no value. Changes nothing.
    ///
    /// - Throws: `corrupt` for a value whose bytes are not those that were stored.
    func verify(_ key: Key) throws -> ValueState?
}

/// The result of comparing a stored value with the record of its last write.
public enum ValueState: UInt32, Hashable, Sendable {
    /// There is no record: an earlier version or another program wrote the value, or its location cannot hold a record.
    case unrecorded = 0
    /// The value is as it was written.
    case intact = 1
    /// Another program edited the value on purpose; it is read as it is now.
    case edited = 2
}

/// A store that reports changes. Ability `localdata.store.watch/1`.
public protocol WatchableBackend: StorageBackend {
    /// A running watch.
    associatedtype Watch: Sendable

    /// Calls `changed` whenever a value in `place` whose name starts with `prefix` was set or removed, also by another
    /// process if the store is shared. `nil` means that anything may have changed. The call may come on any thread,
    /// even during a `set`. One call may report several changes; no change is left out.
    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> Watch

    /// Ends a watch; when it returns, `changed` is not running and will not run again.
    func unwatch(_ watch: Watch)
}

/// A store that can erase what it has removed from its files. Ability `localdata.store.wiping/1`.
public protocol WipingBackend: StorageBackend {
    /// Erases removed and replaced values from the files in which the store keeps `place`: from their free space and
    /// from logs. May take long. Space that files have given back to the disk is beyond a store's reach.
    ///
    /// - Throws: `busy` if another process blocks it for long; the caller can try again.
    func wipe(_ place: StorageNamespace) throws
}

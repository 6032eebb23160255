internal import ByteCoding
package import FoundationEssentials
package import LocalDataAPI

/// A key that takes part in sync.
package struct SyncKey: Hashable, Sendable {
    package let address: String
    package let policy: SyncPolicy

    /// Whether values may be of earlier versions of its type.
    package let hasVersions: Bool

    package init(address: String, policy: SyncPolicy, hasVersions: Bool = false) {
        (self.address, self.policy, self.hasVersions) = (address, policy, hasVersions)
    }
}

/// A value as a store has it.
package struct LocalValue: Sendable {
    package var data: Data
    package var attributes: ValueAttributes
    /// What tells this write of the value from others, or at least these bytes and attributes; `nil` if the store has
    /// nothing of the kind.
    package var mark: UInt64?
    /// When the value was written, in 65,536ths of a millisecond since 1970 UTC; `nil` if the store does not say.
    package var written: UInt64?

    package init(data: Data, attributes: ValueAttributes, mark: UInt64?, written: UInt64? = nil) {
        (self.data, self.attributes, self.mark, self.written) = (data, attributes, mark, written)
    }
}

/// Where a value was before its key got another place.
package struct SyncOrigin: Sendable {
    /// The address by which devices knew it.
    let address: String
    /// A hash of it: what is stored later is another value; `nil` if it was removed.
    let digest: UInt64?
    /// When it was written there, in nanoseconds since 1970 UTC; `nil` if unknown.
    let modified: Int64?

    package init(address: String, digest: UInt64?, modified: Int64?) {
        self.address = address
        self.digest = digest
        self.modified = modified
    }
}

/// A value that lost against another version, kept for the grace time.
package struct SyncLoser: Sendable {
    package let address: String
    package let version: SyncVersion
    /// The version that it lost against; `nil` if the group has no value any more.
    package let winner: SyncVersion?
    package let data: Data
    package let attributes: ValueAttributes
}

/// A change of what a device holds of one key. All of it takes effect, or nothing; also across a crash if the replica
/// ``SyncReplica/isAtomic(_:)`` there.
package struct SyncChange: Sendable {
    package enum Value: Sendable {
        case keep
        case set(Data, ValueAttributes)
        case remove
    }

    package enum Parked: Sendable {
        case keep
        case set(Data)
        case discard
    }

    /// The keyed hash of the address, by which the entry is kept.
    package let name: String
    package let address: String
    /// The new entry; `nil` removes it.
    package var entry: SyncEntry?
    package var value = Value.keep
    /// The value that is to be there before, with its mark; only if the value changes.
    package var expected: LocalValue?
    package var loser: SyncLoser?
    package var parked = Parked.keep
    /// What to store first where value and entry cannot change as one.
    package var intent: SyncEntry?

    package init(name: String, entry: SyncEntry) {
        (self.name, self.entry, address) = (name, entry, entry.address)
    }

    package var changesValue: Bool { if case .keep = value { false } else { true } }
}

/// The addresses of keys of which a store has less than this device has synced.
package struct OutdatedKeys: Sendable {
    /// Those in a store that was put back to an earlier state, values and entries.
    package var putBack: Set<String> = []
    /// Those whose value, or absence, is of a time before another store served them for a while.
    package var returned: Set<String> = []
    /// Those in the same stores whose value was written since, by someone who did not see what was synced meanwhile.
    package var rewritten: Set<String> = []

    package init(returned: Set<String> = []) {
        self.returned = returned
    }
}

/// A device's values, and what it knows of them. Calls may wait; all come from one thread at a time.
package protocol SyncReplica: AnyObject {
    /// The keys that take part.
    var keys: [SyncKey] { get }

    /// The value of a key; `nil` if absent.
    func read(_ address: String) throws(StorageError) -> LocalValue?

    /// The addresses by which devices that run other releases of the app may know a key.
    func formerAddresses(of address: String) -> [String]

    /// The addresses of keys that took part in earlier releases of the app, and whose values migrations bring to a key.
    func sourceAddresses(of address: String) -> [String]

    /// Where the value at an address was before the app was updated; `nil` for a value that was stored there.
    func origin(of address: String) -> SyncOrigin?

    /// When what a migration has made the value at an address of was written, in 65,536ths of a millisecond since 1970
    /// UTC; `nil` for a value that was set.
    func sourceWritten(_ address: String) throws(StorageError) -> UInt64?

    /// A value brought to the current version of its key's type; `nil` if it is that, or cannot be brought to it, or
    /// another device does so.
    func upgraded(_ value: LocalValue, at address: String) throws(StorageError) -> LocalValue?

    /// Stores what ``upgraded(_:at:)`` has made of a key's value.
    func upgrade(_ address: String, from value: LocalValue, to upgraded: LocalValue) throws(StorageError)

    /// Passes the marks that ``read(_:)`` would return now, `nil` for keys without a value, if the stores can tell them
    /// at much less cost. A key that is not passed may have any value.
    ///
    /// - Parameter body: Called with the key's index in ``keys``.
    func forEachMark(_ body: (_ key: Int, _ mark: UInt64?) -> Void) throws(StorageError)

    /// Whether this device's software can use such a value. Others are kept aside.
    func canUse(_ value: Data, _ attributes: ValueAttributes, at address: String) -> Bool

    /// The attributes that the store keeps beside a value with these.
    func kept(_ attributes: ValueAttributes, at address: String) -> ValueAttributes

    /// Whether a value and its entry change as one, also across a crash. Where they do not, one thing goes unnoticed:
    /// that somebody removes a value between the end of a process that had just stored it, and the next one.
    func isAtomic(_ address: String) -> Bool

    /// What may be older than what this device has synced; `nil` if nothing is. It is so until progress is saved.
    func outdated() throws(StorageError) -> OutdatedKeys?

    /// Passes all entries, by the hashed names of their keys.
    func forEachEntry(_ body: (String, SyncEntry) throws(StorageError) -> Void) throws(StorageError)

    /// Makes changes, durably, and saves how far sync has come.
    ///
    /// - Parameter progress: What ``progress()`` returns from then on; `nil` if that stays. It is saved with the
    ///   changes or after them, and not at all if one of them was not made.
    /// - Returns: The indexes of those that were not made, since the value is not the expected one any more.
    func commit(_ changes: [SyncChange], progress: Data?) throws(StorageError) -> [Int]

    /// A record that was kept aside.
    func parked(_ name: String) throws(StorageError) -> Data?

    /// Makes one value of two that were written without knowledge of each other. The result follows from the two alone,
    /// on whichever device; it replaces both, so it has what neither may lose. If more than two are merged, the order
    /// in which that happens differs between devices, and should not matter.
    ///
    /// - Returns: `nil` if the key has no way to merge: the greater version wins then, and the other is kept.
    func merge(_ lesser: LocalValue, _ greater: LocalValue, at address: String) throws(StorageError) -> LocalValue?

    /// How far sync has come, as ``commit(_:progress:)`` saved it last.
    func progress() throws(StorageError) -> Data?
}

extension SyncReplica {
    package func formerAddresses(of address: String) -> [String] { [] }
    package func sourceAddresses(of address: String) -> [String] { [] }
    package func origin(of address: String) -> SyncOrigin? { nil }
    package func sourceWritten(_ address: String) throws(StorageError) -> UInt64? { nil }
    package func upgraded(_ value: LocalValue, at address: String) throws(StorageError) -> LocalValue? { nil }
    package func upgrade(
        _ address: String, from value: LocalValue, to upgraded: LocalValue
    ) throws(StorageError) {}

    package func merge(
        _ lesser: LocalValue, _ greater: LocalValue, at address: String
    ) throws(StorageError) -> LocalValue? { nil }
}

/// What came of opening a record.
package enum OpenedRecord: Sendable {
    case content(Data)
    /// Sealed under an earlier epoch, which a removed device may know.
    case earlierEpoch
    /// Sealed under an epoch that this device does not know yet.
    case laterEpoch
    /// Not sealed by a member of the group, or changed.
    case forged
}

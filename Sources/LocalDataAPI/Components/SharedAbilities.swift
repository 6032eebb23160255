/// What a change requires of the stored value at the moment when the store makes it.
public enum WriteCondition: Equatable, Sendable {
    /// No requirement.
    case anything
    /// No value is stored.
    case absent
    /// The stored value has this revision.
    case revision(UInt64)

    /// Whether a stored value with this revision fulfils it; `nil` means that there is no value.
    public func isFulfilled(by revision: UInt64?) -> Bool {
        switch self {
        case .anything: true
        case .absent: revision == nil
        case .revision(let expected): revision == expected
        }
    }
}

/// A store whose changes can depend on what is stored. Each is one step for all users of the store, including other
/// processes if it is shared. Ability `localdata.store.conditional/1`.
///
/// A value's revision is never 0. Each write of the value gives it a new one, which the value under that key has not
/// had before, even if it was removed meanwhile.
public protocol ConditionalBackend: StorageBackend {
    /// As `get`, with the value's revision and its attributes, all of one write.
    func get(
        _ key: Key, _ deliver: (_ revision: UInt64, _ attributes: ValueAttributes, _ value: RawSpan) -> Void
    ) throws -> Bool

    /// As `set`, if the stored value fulfils the condition.
    ///
    /// - Returns: The new revision; `nil` if the condition is not fulfilled, and then nothing has changed.
    func set(
        _ key: Key, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> UInt64?

    /// Removes the value if it has this revision; returns `false` if it has another one or is absent.
    func remove(_ key: Key, ifRevision revision: UInt64) throws -> Bool
}

/// A store whose values can expire. Ability `localdata.store.expiry/1`.
///
/// From the moment that `ValueAttributes.expires` names, by the store's own clock, a value counts as absent:
///
/// - A call that reads one value throws ``ValueExpired``. The host then calls ``discard(_:)``, and reports that the
///   value is absent. So a value that a reader has found expired does not come back when a clock is set back.
/// - Listings and bulk reads leave it out. The host calls ``sweep(_:limit:)`` first.
/// - In a transaction, `get` returns `false`.
/// - A change treats it as absent: `remove` returns `false`, and the condition `absent` is fulfilled.
public protocol ExpiringBackend: AttributedBackend {
    /// Removes the value if it has expired. May wait.
    func discard(_ key: Key) throws

    /// Removes expired values: those of `place`, or all in namespaces without a folder if it is `nil`. Takes little
    /// time if there are none. May wait.
    ///
    /// - Returns: The number of removed values, at most `limit`.
    func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int

    /// Passes the names of values in `place` that have expired and are still kept to `body`, each once and in any
    /// order, until it returns `false`.
    func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) throws
}

/// Thrown by the reads of an ``ExpiringBackend`` for a value that has expired.
public struct ValueExpired: Error {
    /// Creates the error.
    public init() {}
}

/// A store that locks names for all its users, on any machine. Ability `localdata.store.lock/1`.
///
/// It is for stores that machines share. For others the host locks files in its folder of state.
public protocol LockingBackend: StorageBackend {
    /// A lock that is held.
    associatedtype Lock: Sendable

    /// Takes the lock of a name, which one holder has at a time; other threads of the process wait as other processes
    /// do. The lock ends with ``unlock(_:)`` and with the process. May wait.
    ///
    /// - Parameter wait: How long to wait for another holder.
    /// - Returns: `nil` if another holder kept it for all of that time.
    func lock(_ name: String, in place: StorageNamespace, waiting wait: Duration) throws -> Lock?

    /// Whether the lock is still held: a store that loses the connection to its holder gives the lock to others.
    func isHeld(_ lock: Lock) throws -> Bool

    /// Releases the lock; does nothing if the lock was lost.
    func unlock(_ lock: Lock)
}

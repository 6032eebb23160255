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

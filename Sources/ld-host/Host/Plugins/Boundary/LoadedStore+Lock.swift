internal import CLocalData
internal import HostGround
package import LocalDataAPI

/// A lock of a store, held until it is passed to ``LoadedStore/unlock(_:)``.
package struct StoreLock: @unchecked Sendable {
    // The pointer is opaque to the host, and the boundary's rules let any thread make the calls.
    fileprivate let pointer: UnsafeMutableRawPointer?
}

/// A lock of a store, held as long as this is there.
package final class HeldStoreLock: Sendable {
    private let name: String
    private let store: LoadedStore
    private let lock: StoreLock

    /// Takes a lock of the host's own among all who share a store. May wait.
    ///
    /// - Throws: `busy` if another holds it for longer than that.
    package init(_ name: String, of store: LoadedStore, waiting wait: Duration) throws(StorageError) {
        guard let lock = try store.lock(name, in: Self.place, waiting: wait) else {
            throw StorageError(
                .busy,
                "another program, maybe on another machine, has held the lock '\(name)' of the store for too long",
                hint: "try again when that program has finished")
        }
        (self.name, self.store, self.lock) = (name, store, lock)
    }

    /// - Throws: `busy` if the lock was lost, e.g. with its connection, so that another may hold it.
    package func requireHeld() throws(StorageError) {
        guard try store.isHeld(lock) else {
            throw StorageError(
                .busy, "the lock '\(name)' of the store was lost with the connection that held it; nothing was changed",
                hint: "try again")
        }
    }

    deinit { store.unlock(lock) }

    /// The domain cannot be configured, so these are never locks of an app's.
    private static let place = StorageNamespace(domain: HostSettings.reservedDomains + "locks")
}

extension LoadedStore {
    /// Takes a lock among all who share the store, whatever their machine.
    ///
    /// - Parameter wait: How long to wait for another holder.
    /// - Returns: `nil` if another held it all the time.
    /// - Throws: `unsupported` if the store has no locks, and whatever it reports.
    package func lock(
        _ name: String, in place: StorageNamespace, waiting wait: Duration
    ) throws(StorageError) -> StoreLock? {
        guard let lock = abilities.lock else { throw lacks("locks") }
        var taken: UnsafeMutableRawPointer?
        let status = try site("lock").call(.found) { error in
            place.withBoundary { place in
                name.withBytes {
                    lock.lock(table.`self`, place, $0, UInt64(clamping: wait.nanoseconds), &taken, error)
                }
            }
        }
        return status == LD_OK ? StoreLock(pointer: taken) : nil
    }

    /// Whether a lock is still held: a store may lose the connection to its holder.
    package func isHeld(_ lock: StoreLock) throws(StorageError) -> Bool {
        guard let locks = abilities.lock else { throw lacks("locks") }
        return try site("lock held").call(.found) { locks.held(table.`self`, lock.pointer, $0) } == LD_OK
    }

    /// Gives a lock back.
    package func unlock(_ lock: StoreLock) {
        site("unlock").plain { abilities.lock?.unlock(table.`self`, lock.pointer) }
    }
}

internal import CLocalData
package import LocalDataAPI

/// A lock of a store, held until it is passed to ``LoadedStore/unlock(_:)``.
package struct StoreLock: @unchecked Sendable {
    // The pointer is opaque to the host, and the boundary's rules let any thread make the calls.
    fileprivate let pointer: UnsafeMutableRawPointer?
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

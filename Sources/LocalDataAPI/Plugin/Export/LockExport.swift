internal import CLocalData

// The C functions of the table. They are at file scope, so that no isolation is inferred for them.

func takeLock(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, name: ld_bytes, wait: UInt64,
    lock: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let lock else { throw StorageError(.unsupported, "lock was called without a place for the lock") }
        let wait = Duration.nanoseconds(Int64(clamping: wait))
        guard let taken = try ability(context, \.locks).taken(utf8(name), StorageNamespace(place), wait) else {
            return LD_ABSENT
        }
        lock.pointee = taken
        return LD_OK
    }
}

func isLockHeld(
    context: UnsafeMutableRawPointer?, lock: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try ability(context, \.locks).isHeld(behind: checked(lock)) ? LD_OK : LD_ABSENT }
}

func giveLockBack(context: UnsafeMutableRawPointer?, lock: UnsafeMutableRawPointer?) {
    if let lock { try? ability(context, \.locks).unlock(behind: lock) }
}

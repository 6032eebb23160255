internal import CLocalData

/// The locks of a store of some Swift type.
class AnyLockExport {
    typealias Handle = UnsafeMutableRawPointer

    func lock(_ name: String, _ place: StorageNamespace, _ wait: Duration) throws -> Handle? { nil }
    func isHeld(_ lock: Handle) throws -> Bool { false }
    func unlock(_ lock: Handle) {}
}

final class LockExport<Backend: LockingBackend>: AnyLockExport {
    private typealias Box = KeyBox<Backend.Lock>
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    override func lock(_ name: String, _ place: StorageNamespace, _ wait: Duration) throws -> Handle? {
        try backend.lock(name, in: place, waiting: wait).map { Unmanaged.passRetained(Box($0)).toOpaque() }
    }

    override func isHeld(_ lock: Handle) throws -> Bool { try backend.isHeld(Box.key(lock)) }

    override func unlock(_ lock: Handle) {
        backend.unlock(Box.key(lock))
        Unmanaged<Box>.fromOpaque(lock).release()
    }
}

// The C functions of the table. They are at file scope, so that no isolation is inferred for them.

func takeLock(
    context: UnsafeMutableRawPointer?, place: UnsafePointer<ld_namespace>?, name: ld_bytes, wait: UInt64,
    lock: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) {
        guard let lock else { throw StorageError(.unsupported, "lock was called without a place for the lock") }
        let wait = Duration.nanoseconds(Int64(clamping: wait))
        guard let taken = try ability(context, \.locks).lock(utf8(name), StorageNamespace(place), wait) else {
            return LD_ABSENT
        }
        lock.pointee = taken
        return LD_OK
    }
}

func isLockHeld(
    context: UnsafeMutableRawPointer?, lock: UnsafeMutableRawPointer?, error: UnsafePointer<ld_error_sink>?
) -> Int32 {
    reporting(error) { try ability(context, \.locks).isHeld(checked(lock)) ? LD_OK : LD_ABSENT }
}

func giveLockBack(context: UnsafeMutableRawPointer?, lock: UnsafeMutableRawPointer?) {
    if let lock { try? ability(context, \.locks).unlock(lock) }
}

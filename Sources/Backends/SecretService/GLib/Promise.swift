internal import CSecret
internal import Synchronization

/// A result that one thread sets and any number of threads wait for, each with its own deadline.
final class Promise<Result: Sendable>: @unchecked Sendable {
    // The lock and the condition have fixed addresses as long as this object lives; `result` changes under the lock.
    private let lock = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    private let kept = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    private var result: Result?

    init() {
        lock.initialize(to: GMutex())
        kept.initialize(to: GCond())
        g_mutex_init(lock)
        g_cond_init(kept)
    }

    deinit {
        g_mutex_clear(lock)
        g_cond_clear(kept)
        lock.deallocate()
        kept.deallocate()
    }

    /// Sets the result; the first one counts.
    func keep(_ result: Result) {
        g_mutex_lock(lock)
        if self.result == nil { self.result = result }
        g_cond_broadcast(kept)
        g_mutex_unlock(lock)
    }

    /// The result, if it is set.
    var current: Result? {
        g_mutex_lock(lock)
        defer { g_mutex_unlock(lock) }
        return result
    }

    /// The result, or `nil` if it is not set in time.
    func wait(until deadline: BusDeadline) -> Result? {
        g_mutex_lock(lock)
        defer { g_mutex_unlock(lock) }
        while result == nil {
            if g_cond_wait_until(kept, lock, deadline.instant) == 0 { break }
        }
        return result
    }
}

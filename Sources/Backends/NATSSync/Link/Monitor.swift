internal import Glibc
internal import ServerAccess

/// A lock whose holder can wait for a signal up to a deadline.
final class Monitor: @unchecked Sendable {
    // They have fixed addresses as long as this object lives.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let signal = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        lock.initialize(to: pthread_mutex_t())
        signal.initialize(to: pthread_cond_t())
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(signal, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(signal)
        pthread_mutex_destroy(lock)
        lock.deallocate()
        signal.deallocate()
    }

    /// Runs `body` with the lock held.
    func with<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body()
    }

    /// Wakes those who wait.
    func wakeAll() { pthread_cond_broadcast(signal) }

    /// Waits for a signal, with the lock held before and after; `false` once the deadline has passed.
    func wait(until deadline: Deadline) -> Bool {
        var time = deadline.time
        return pthread_cond_timedwait(signal, lock, &time) != ETIMEDOUT
    }
}

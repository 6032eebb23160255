import Glibc

/// A gate that one thread waits for and another opens, once.
package final class Gate: @unchecked Sendable {
    // The semaphore stays at one address for as long as the gate lives, and is safe for threads.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func open() { sem_post(semaphore) }

    /// Waits until the gate is open, for at most two minutes; then returns `false`.
    @discardableResult
    package func wait() -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += 120
        while sem_timedwait(semaphore, &deadline) != 0 { if errno != EINTR { return false } }
        sem_post(semaphore)
        return true
    }
}

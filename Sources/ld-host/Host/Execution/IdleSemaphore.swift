internal import CLinux
internal import Glibc

/// A counting semaphore with a monotonic deadline, on which idle threads wait.
final class IdleSemaphore: @unchecked Sendable {
    // The semaphore has a fixed address as long as this object lives, and its functions are thread-safe.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    /// Waits for a signal; `false` if none came in time.
    func wait(for duration: Duration) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let (seconds, attoseconds) = duration.components
        let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
        deadline.tv_sec += Int(clamping: min(seconds, 1 << 31)) + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        while ld_linux_sem_wait_until(semaphore, &deadline) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }

    func waitForever() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}

import Glibc
import Synchronization

/// Lets threads in one after the other, in the order in which they come.
final class Turns: Sendable {
    /// A thread that waits.
    private struct Waiter: @unchecked Sendable {
        // Made, waited for and freed by one thread; posted once by another before that.
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    }

    private struct State {
        var isTaken = false
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())

    /// Runs `body` when it is the caller's turn.
    func take<Result>(_ body: () throws -> Result) throws -> Result {
        wait()
        defer { pass() }
        return try body()
    }

    /// Runs `body` if it is nobody's turn.
    func takeIfFree(_ body: () -> Void) {
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        guard isFree else { return }
        defer { pass() }
        body()
    }

    private func wait() {
        let waiter: Waiter? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let waiter = Waiter()
            sem_init(waiter.semaphore, 0, 0)
            state.waiting.append(waiter)
            return waiter
        }
        guard let waiter else { return }
        while sem_wait(waiter.semaphore) != 0 {}
        // Until the one who posted it has left.
        state.withLock { _ in }
        sem_destroy(waiter.semaphore)
        waiter.semaphore.deallocate()
    }

    /// Lets the next one in. Its semaphore is posted under the lock, which it takes before it frees it: it may be awake
    /// before the call that woke it has returned.
    private func pass() {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return
            }
            sem_post(state.waiting.removeFirst().semaphore)
        }
    }
}

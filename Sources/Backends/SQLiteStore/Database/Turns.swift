import Glibc
import Synchronization

/// Admits threads one at a time, in the order of their arrival.
final class Turns: Sendable {
    /// A waiting thread.
    private struct Waiter: @unchecked Sendable {
        // Created, waited for and freed by one thread; posted once by another one before it is freed.
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    }

    private struct State {
        var isTaken = false
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())

    /// Runs `body` when the caller's turn comes.
    func take<Result>(_ body: () throws -> Result) throws -> Result {
        wait()
        defer { pass() }
        return try body()
    }

    /// Runs `body` if no thread has the turn.
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
        // Waits until the posting thread has released the lock.
        state.withLock { _ in }
        sem_destroy(waiter.semaphore)
        waiter.semaphore.deallocate()
    }

    /// Admits the next thread. Its semaphore is posted under the lock, which that thread takes before it frees the
    /// semaphore: it may wake before the call that posts it has returned.
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

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
    internal import Dispatch
#endif

/// Runs asynchronous code on the thread that waits for it. So a synchronous C function calls Swift's asynchronous
/// functions without a thread of Swift's own pool. The thread must be one that may wait.
package final class CallerThreadExecutor: TaskExecutor, @unchecked Sendable {
    private enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private struct State {
        var queue: [Work] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let semaphore = ThreadSemaphore()
    private let thread = pthread_self()

    private init() {}

    deinit { semaphore.destroy() }

    /// Runs `body` here and returns when it is done.
    ///
    /// - Parameter started: Called before the body runs, with the executor and a function that cancels the body's task.
    package static func run<Value: Sendable>(
        started: (CallerThreadExecutor, _ cancel: @escaping @Sendable () -> Void) -> Void = { _, _ in },
        _ body: @escaping @Sendable (CallerThreadExecutor) async throws -> Value
    ) throws -> Value {
        let executor = CallerThreadExecutor()
        let outcome = Outcome<Value>()
        let task = Task(executorPreference: executor) {
            do { outcome.set(.success(try await body(executor))) } catch { outcome.set(.failure(error)) }
            executor.end()
        }
        started(executor) { task.cancel() }
        executor.work()
        return try outcome.get()
    }

    /// Whether this is the executor's thread, and its body is still running.
    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 && !state.withLock { $0.isOver } }

    /// Takes a task's job. A job that arrives after the end, e.g. from a task that nobody waited for, goes to Swift's
    /// pool.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !add(.job(job)) { globalConcurrentExecutor.enqueue(job) }
    }

    /// Makes a call on the executor's thread; `false` if the body has ended.
    package func submit(_ call: @escaping @Sendable () -> Void) -> Bool { add(.call(call)) }

    private func add(_ work: Work) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isOver else { return false }
            state.queue.append(work)
            return true
        }
        if isTaken { semaphore.signal() }
        return isTaken
    }

    private func end() {
        state.withLock { $0.isOver = true }
        semaphore.signal()
    }

    private func work() {
        while true {
            let (queue, isOver) = state.withLock { state in
                defer { state.queue.removeAll(keepingCapacity: true) }
                return (state.queue, state.isOver)
            }
            for work in queue {
                switch work {
                case .job(let job):
                    // Nobody waits for jobs that became ready as the body ended.
                    if isOver {
                        globalConcurrentExecutor.enqueue(job)
                    } else {
                        job.runSynchronously(on: asUnownedTaskExecutor())
                    }
                case .call(let call): call()
                }
            }
            if isOver { return }
            guard queue.isEmpty else { continue }
            semaphore.wait()
        }
    }
}

/// Counts signals; a thread waits for the next one.
private struct ThreadSemaphore {
    #if canImport(Glibc)
        // At a fixed address until `destroy()`; its functions are thread-safe.
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init() {
            semaphore.initialize(to: sem_t())
            sem_init(semaphore, 0, 0)
        }

        func signal() { sem_post(semaphore) }

        func wait() { while sem_wait(semaphore) != 0 && errno == EINTR {} }

        func destroy() {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }
    #else
        // macOS has no unnamed semaphores.
        private let semaphore = DispatchSemaphore(value: 0)

        func signal() { semaphore.signal() }

        func wait() { semaphore.wait() }

        func destroy() {}
    #endif
}

/// The result of a task.
private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

    func get() throws -> Value {
        guard let result = result.withLock({ $0 }) else {
            throw StorageError(.unknown, "asynchronous code ended without a result")
        }
        return try result.get()
    }
}

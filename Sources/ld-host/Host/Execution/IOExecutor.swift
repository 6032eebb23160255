internal import CLinux
internal import Glibc
internal import Synchronization

/// Threads for calls that may wait: the disk, a lock, the network, a person.
///
/// One elastic pool for the process, at most ``limit`` threads, apart from Swift's own so that waiting calls never stop
/// unrelated tasks. It is a task executor: a task that makes many calls runs faster on it than calls hop one by one.
///
/// ```swift
/// Task(executorPreference: IOExecutor.shared) { for (name, value) in many { try await router.set(value, for: ...) } }
/// ```
///
/// Code that is not async calls ``blocking(_:)``.
public final class IOExecutor: TaskExecutor, Sendable {
    /// The pool of this process.
    public static let shared = IOExecutor()

    /// The most threads that the pool ever has.
    public static let limit = 64

    private enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private struct State {
        var queue = WorkQueue<Work>()
        var idle = 0
        var threads = 0
    }

    private let state = Mutex(State())
    private let semaphore = IdleSemaphore()

    private init() {}

    /// Takes a task's job.
    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs a call on one of the threads.
    package func submit(_ call: @escaping @Sendable () -> Void) { add(.call(call)) }

    /// Whether the caller is on one of the pool's threads, or another that was made for that, and so may wait.
    package static var isCurrent: Bool { pthread_getspecific(marker) != nil }

    /// Says that the calling thread may wait: one of the host's own that runs nothing but such calls.
    static func markThread() { pthread_setspecific(marker, UnsafeRawPointer(bitPattern: 1)) }

    private func add(_ work: Work) {
        let (wake, start) = state.withLock { state in
            state.queue.append(work)
            if state.idle > 0 {
                state.idle -= 1
                return (true, false)
            }
            guard state.threads < Self.limit else { return (false, false) }
            state.threads += 1
            return (false, true)
        }
        if wake { semaphore.signal() }
        if start { startThread() }
    }

    private func startThread() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let failure = pthread_create(&thread, &attributes, runIOThread, nil)
        guard failure != 0 else { return }
        // No thread could be made. Others will take the work when they are done; without any, nothing could ever run.
        let left = state.withLock { state in
            state.threads -= 1
            return state.threads
        }
        if left == 0 { runUntilEmpty() }
    }

    /// A thread's life: takes work until there has been none for a while.
    fileprivate func runThread() {
        Self.markThread()
        ld_linux_name_thread("localdata-io")
        while true {
            runUntilEmpty()
            let mayLeave = state.withLock { state in
                guard state.queue.isEmpty else { return true }
                state.idle += 1
                return false
            }
            if mayLeave { continue }
            if semaphore.wait(for: .seconds(10)) { continue }
            let leaves = state.withLock { state in
                // Whoever signalled has already taken this thread off the idle count; then it has to stay.
                guard state.idle > 0 else { return false }
                state.idle -= 1
                state.threads -= 1
                return true
            }
            if leaves { return }
            semaphore.waitForever()
        }
    }

    private func runUntilEmpty() {
        while let work = state.withLock({ $0.queue.popFirst() }) {
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .call(let call): call()
            }
        }
    }
}

/// Marks the pool's threads. A key that cannot be made leaves every thread unmarked, which costs hops, not correctness.
private let marker: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
}()

private func runIOThread(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    IOExecutor.shared.runThread()
    return nil
}

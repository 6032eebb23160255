internal import CLinux
internal import Glibc
package import LocalDataAPI
internal import Synchronization

/// Threads for calls that may wait: for the disk, a lock, the network, a person.
///
/// One elastic pool for the process, of at most ``limit`` threads. It is separate from Swift's own, so that waiting
/// calls never block unrelated tasks. It is a task executor: a task that makes many calls runs faster on it than by
/// switching threads for each call.
///
/// ```swift
/// Task(executorPreference: IOExecutor.shared) { for (name, value) in many { try await router.set(value, for: ...) } }
/// ```
///
/// Synchronous code calls ``blocking(_:)``.
public final class IOExecutor: TaskExecutor, Sendable {
    /// The pool of this process.
    public static let shared = IOExecutor()

    /// The most threads of the pool.
    public static let limit = 64

    fileprivate enum Work {
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
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let own = OwnWork.current, own.isEnding, own.put(.job(job)) { return }
        add(.job(job))
    }

    /// Runs a call on one of the threads.
    package func submit(_ call: @escaping @Sendable () -> Void) { add(.call(call)) }

    /// Whether the calling thread may wait: it is one of the pool's, or another one for such calls.
    package static var isCurrent: Bool { pthread_getspecific(marker) != nil }

    /// Marks the calling thread as one that may wait: a host thread that runs only such calls.
    static func markThread() { pthread_setspecific(marker, UnsafeRawPointer(bitPattern: 1)) }

    /// Runs a call for a task that is about to be suspended until the call ends. If the task is on one of the threads,
    /// that thread makes the call, and no other one wakes for it.
    func submitWhileSuspending(_ call: @escaping @Sendable () -> Void) {
        if let own = OwnWork.current, own.put(.call(call)) { return }
        add(.call(call))
    }

    /// Gives a call to the other threads that this one took over from a task which was not suspended after all.
    func passOn() { if let work = OwnWork.current?.take() { add(work) } }

    /// Resumes a task as the last thing that a call does: on this thread, if it is one of the pool's.
    func ending(_ resume: () -> Void) {
        guard let own = OwnWork.current else { return resume() }
        own.isEnding = true
        resume()
        own.isEnding = false
    }

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
        // No thread could be created. Existing threads will take the work; without any, it could never run.
        let left = state.withLock { state in
            state.threads -= 1
            return state.threads
        }
        if left == 0 { runUntilEmpty() }
    }

    /// The body of a thread: runs work until there has been none for some time.
    fileprivate func runThread() {
        let own = OwnWork()
        pthread_setspecific(marker, Unmanaged.passUnretained(own).toOpaque())
        defer { withExtendedLifetime(own) { _ = pthread_setspecific(marker, nil) } }
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
                // The signal has already counted this thread as busy; so it must stay.
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
        while let work = OwnWork.current?.take() ?? state.withLock({ $0.queue.popFirst() }) {
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .call(let call): call()
            }
        }
    }
}

/// What a thread of the pool does next, before it takes work from the queue: the call that its task waits for, or the
/// task whose call it has made. Only that thread uses it.
private final class OwnWork {
    /// Whether the work goes to the queue, so that no task keeps the others waiting for ever.
    private static let mostInARow = 64

    private var next: IOExecutor.Work?
    private var inARow = 0
    /// Whether the thread's call resumes its task now.
    var isEnding = false

    /// The calling thread's; `nil` if it is none of the pool's.
    static var current: OwnWork? {
        guard let mark = pthread_getspecific(marker), mark != UnsafeMutableRawPointer(bitPattern: 1) else { return nil }
        return Unmanaged<OwnWork>.fromOpaque(mark).takeUnretainedValue()
    }

    /// Keeps work for this thread; `false` if another one is to do it.
    func put(_ work: IOExecutor.Work) -> Bool {
        guard next == nil, inARow < Self.mostInARow else {
            inARow = 0
            return false
        }
        next = work
        inARow += 1
        return true
    }

    func take() -> IOExecutor.Work? {
        defer { next = nil }
        return next
    }
}

/// Marks the pool's threads. Without a key, a number that is no key leaves every thread unmarked, which costs thread
/// switches but not correctness.
private let marker: pthread_key_t = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : .max
}()

private func runIOThread(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    IOExecutor.shared.runThread()
    return nil
}

extension IOExecutor {
    /// Makes a call and waits for it on this thread: for synchronous code, such as a callback from C.
    ///
    /// ```swift
    /// let token = try IOExecutor.blocking { try await StorageRouter.shared.get(.token) }
    /// ```
    ///
    /// A thread that waits for a task is blocked. Swift's pool has one thread per core, so a few such callers could
    /// block all of them, and their tasks would never run. This executor makes the call without a thread of that pool,
    /// so any number of callers may wait. If the main thread waits, no part of the call may need the main actor.
    /// Deadlines of network stores have their own thread.
    ///
    /// - Throws: What the call throws; `unsupported` on a thread of this executor, whose tasks can await the call.
    @available(*, noasync, message: "await the call")
    public static func blocking<Value: Sendable>(
        _ call: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        guard !isCurrent else {
            throw StorageError(
                .unsupported, "a task of IOExecutor must not block one of its threads", hint: "await the call there")
        }
        return try waiting(for: call)
    }

    /// Makes a call and waits for it, on a thread that may wait for those of this executor: see ``onOwnThread(_:)``.
    package static func waiting<Value: Sendable>(for call: @escaping @Sendable () async throws -> Value) throws -> Value
    {
        let end = Mutex<Result<Value, any Error>>(.failure(StorageError.cancelled))
        let isDone = IdleSemaphore()
        Task.detached(executorPreference: shared) {
            do {
                let value = try await call()
                end.withLock { $0 = .success(value) }
            } catch {
                end.withLock { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.waitForever()
        return try end.withLock { $0 }.get()
    }
}

/// Makes a call that may wait and handle secrets: on this thread if it may wait, otherwise on an I/O thread.
package func onIOThread<Value: Sendable>(
    _ call: @escaping @Sendable () throws(StorageError) -> Value
) async throws(StorageError) -> Value {
    if IOExecutor.isCurrent { return try MemorySecrecy.clearingStack(call) }
    let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
        IOExecutor.shared.submit {
            let result = Result { () throws(StorageError) in try MemorySecrecy.clearingStack(call) }
            continuation.resume(returning: result)
        }
    }
    return try result.get()
}

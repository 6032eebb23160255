internal import LocalDataAPI
internal import Synchronization

/// Limits the concurrent calls to one component to `width`, so that a component that hangs cannot take every thread.
/// Adds a deadline to calls that may wait for more than the disk.
final class CallLane: Sendable {
    private struct State {
        var running = 0
        /// The separate threads that wait for a call.
        var idle = 0
        var waiting = WorkQueue<@Sendable () -> Void>()
    }

    /// The threads that make the calls.
    enum Threads: Sendable {
        /// The threads of ``IOExecutor``.
        case pool
        /// Threads of the lane's own, which may wait for the pool's threads.
        case own
    }

    private let width: Int
    private let timeout: Duration?
    private let threads: Threads
    private let advice: String
    private let state = Mutex(State())
    private let calls = IdleSemaphore()

    /// How long a separate thread without work waits for some. Calls often come in rows, and each new thread costs as
    /// much as a small call.
    private static let patience = Duration.seconds(2)

    /// - Parameters:
    ///   - width: The most concurrent calls, at least 1.
    ///   - timeout: How long a caller waits for a call, including the queue; `nil` for no limit.
    ///   - advice: What to do when a call did not end in time.
    init(
        width: Int, timeout: Duration?, threads: Threads = .pool,
        advice: String = "check whether the store answers at all, or raise stores.<name>.timeout"
    ) {
        self.width = max(1, width)
        self.timeout = timeout
        self.threads = threads
        self.advice = advice
    }

    /// Makes a call on an I/O thread and waits for it without blocking the caller's thread.
    ///
    /// - Parameter what: The call's object for errors, e.g. `reading 'keychain/token'`.
    /// - Throws: What the call throws; `timedOut` at the deadline and `cancelled` when the task is cancelled, both only
    ///   with a timeout. The call itself is then abandoned: it continues on its thread, and its result is ignored.
    func run<Value: Sendable>(
        _ what: @autoclosure @Sendable () -> String,
        _ call: @escaping @Sendable () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        guard let timeout else {
            let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
                submit {
                    let result = outcome(of: call)
                    IOExecutor.shared.ending { continuation.resume(returning: result) }
                }
            }
            return try result.get()
        }
        let pending = PendingCall<Value>()
        let deadline = DeadlineClock.shared.set(timeout) { pending.finish(.timedOut) }
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard pending.start(continuation) else { return }
                submit {
                    guard pending.isWaiting else { return }
                    let result = outcome(of: call)
                    IOExecutor.shared.ending { pending.finish(.ended(result)) }
                }
            }
        } onCancel: {
            pending.finish(.cancelled)
        }
        IOExecutor.shared.passOn()
        DeadlineClock.shared.lift(deadline)
        switch end {
        case .ended(let result): return try result.get()
        case .timedOut:
            throw StorageError(
                .timedOut, "\(what()) did not end within \(timeout); it was abandoned",
                hint: advice)
        case .cancelled: throw StorageError(.cancelled, "\(what()) was cancelled by its caller")
        }
    }

    /// Called while the caller's task is being suspended.
    private func submit(_ work: @escaping @Sendable () -> Void) {
        let (starts, wakes) = state.withLock { state in
            guard state.running < width else {
                state.waiting.append(work)
                return (false, false)
            }
            state.running += 1
            guard state.idle > 0 else { return (true, false) }
            state.idle -= 1
            state.waiting.append(work)
            return (false, true)
        }
        if wakes { calls.signal() }
        guard starts else { return }
        switch threads {
        case .pool: IOExecutor.shared.submitWhileSuspending { self.runFirst(work) }
        case .own: start(work)
        }
    }

    private func start(_ work: @escaping @Sendable () -> Void) {
        switch threads {
        case .pool: IOExecutor.shared.submit { self.runFirst(work) }
        case .own:
            do throws(StorageError) {
                try onOwnThread {
                    IOExecutor.markThread()
                    self.runAll(work)
                }
            } catch {
                // The pool waits until the system provides threads again.
                IOExecutor.shared.submit { self.runFirst(work) }
            }
        }
    }

    /// Runs what comes to a separate thread, until nothing comes for some time.
    private func runAll(_ first: @Sendable () -> Void) {
        first()
        while let next = nextCall() { next() }
    }

    private func nextCall() -> (@Sendable () -> Void)? {
        while true {
            let next = state.withLock { state in
                let next = state.waiting.popFirst()
                if next == nil { (state.running, state.idle) = (state.running - 1, state.idle + 1) }
                return next
            }
            if let next { return next }
            if calls.wait(for: Self.patience) { continue }
            let isOver = state.withLock { state in
                if state.idle == 0 { return false }
                state.idle -= 1
                return true
            }
            if isOver { return nil }
            // Somebody calls this thread at this moment.
            calls.waitForever()
        }
    }

    private func runFirst(_ work: @Sendable () -> Void) {
        work()
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.running -= 1 }
            return next
        }
        if let next { start(next) }
    }
}

private func outcome<Value>(of call: () throws(StorageError) -> Value) -> Result<Value, StorageError> {
    do throws(StorageError) { return .success(try call()) } catch { return .failure(error) }
}

/// A call whose caller may give up before it ends. The first result counts; others are ignored.
private final class PendingCall<Value: Sendable>: Sendable {
    /// How the call ended; the store's own errors are separate from the host's.
    enum End: Sendable {
        case ended(Result<Value, StorageError>)
        case timedOut
        case cancelled
    }

    private typealias Continuation = CheckedContinuation<End, Never>

    private enum State {
        case new
        case waiting(Continuation)
        case finished(End)
        case done
    }

    private let state = Mutex(State.new)

    /// Takes the caller's continuation; `false` if the call was cancelled before it began and has its result.
    func start(_ continuation: CheckedContinuation<End, Never>) -> Bool {
        let early: End? = state.withLock { state in
            if case .finished(let end) = state {
                state = .done
                return end
            }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(returning: early) }
        return early == nil
    }

    var isWaiting: Bool {
        state.withLock { if case .waiting = $0 { true } else { false } }
    }

    func finish(_ end: End) {
        let continuation: Continuation? = state.withLock { state in
            switch state {
            case .new:
                state = .finished(end)
                return nil
            case .waiting(let continuation):
                state = .done
                return continuation
            case .finished, .done: return nil
            }
        }
        continuation?.resume(returning: end)
    }
}

/// The deadlines of all calls of this process, on one thread that sleeps until the nearest.
///
/// Nearly every deadline is cancelled long before it passes. So setting and cancelling one only changes a dictionary.
/// The thread wakes when a deadline passes, or when a nearer one is set. A sleeping task per call would start Swift's
/// pool and wake its threads at every call. Time during which the machine is suspended does not count.
final class DeadlineClock: Sendable {
    /// The clock of this process.
    static let shared = DeadlineClock()

    private struct Deadline {
        let instant: SuspendingClock.Instant
        let pass: @Sendable () -> Void
    }

    private struct State {
        var deadlines: [UInt64: Deadline] = [:]
        var last: UInt64 = 0
        /// When the thread wakes next; `nil` if there is no thread.
        var waking: SuspendingClock.Instant?
        /// Whether there were no deadlines when the thread last woke.
        var wasEmpty = false
    }

    /// How long an idle thread waits for another deadline.
    private static let patience: Duration = .seconds(10)

    private let state = Mutex(State())
    private let nearer = IdleSemaphore()

    private init() {}

    /// Calls `pass` once, on the clock's thread, unless the deadline is cancelled before. `pass` must not wait.
    ///
    /// - Returns: The number for ``lift(_:)``.
    func set(_ timeout: Duration, _ pass: @escaping @Sendable () -> Void) -> UInt64 {
        let instant = SuspendingClock.now.advanced(by: timeout)
        let (number, starts, wakes) = state.withLock { state in
            state.last += 1
            state.deadlines[state.last] = Deadline(instant: instant, pass: pass)
            guard let waking = state.waking else {
                state.waking = instant
                return (state.last, true, false)
            }
            if instant < waking { state.waking = instant }
            return (state.last, false, instant < waking)
        }
        if starts { start() }
        if wakes { nearer.signal() }
        return number
    }

    /// Cancels a deadline, which may have passed.
    func lift(_ number: UInt64) { state.withLock { $0.deadlines[number] = nil } }

    private func start() {
        do throws(StorageError) { try onOwnThread { self.runThread() } } catch {
            // No thread can be created; Swift's pool may have some. A sleeping task cannot be woken, so it checks
            // often.
            Task.detached {
                while let pause = self.passDue() { try? await Task.sleep(for: min(pause, .milliseconds(100))) }
            }
        }
    }

    private func runThread() {
        while let pause = passDue() { _ = nearer.wait(for: pause) }
    }

    /// Calls what is due; returns how long to wait then, or `nil` if the thread should end.
    private func passDue() -> Duration? {
        let (due, pause) = state.withLock { state -> ([Deadline], Duration?) in
            let now = SuspendingClock.now
            let due = state.deadlines.filter { $0.value.instant <= now }
            for number in due.keys { state.deadlines[number] = nil }
            let nearest = state.deadlines.values.map(\.instant).min()
            let ends = nearest == nil && state.wasEmpty
            state.waking = ends ? nil : nearest ?? now.advanced(by: Self.patience)
            state.wasEmpty = nearest == nil && !ends
            return (Array(due.values), state.waking.map { $0 - now })
        }
        for deadline in due { deadline.pass() }
        return pause
    }
}

internal import LocalDataAPI
internal import Synchronization

/// The way of one component's calls to the threads that may wait: at most `width` at a time, so that a component that
/// hangs cannot take every thread, and with a deadline where a call may wait for others than the disk.
final class CallLane: Sendable {
    private struct State {
        var running = 0
        var waiting = WorkQueue<@Sendable () -> Void>()
    }

    /// Which threads the calls are made on.
    enum Threads: Sendable {
        /// Those of ``IOExecutor``.
        case pool
        /// One of its own for each call, which may wait for the pool's.
        case own
    }

    private let width: Int
    private let timeout: Duration?
    private let threads: Threads
    private let advice: String
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: The most calls at a time, at least 1.
    ///   - timeout: How long a caller waits for a call, queueing included; `nil` for as long as it takes.
    ///   - advice: What to do when a call did not end in time.
    init(
        width: Int, timeout: Duration?, threads: Threads = .pool,
        advice: String = "see whether the store answers at all, or raise stores.<name>.timeout"
    ) {
        self.width = max(1, width)
        self.timeout = timeout
        self.threads = threads
        self.advice = advice
    }

    /// Makes a call on an I/O thread and waits for it without holding the caller's thread.
    ///
    /// - Parameter what: The call's object for errors, e.g. `reading 'keychain/token'`.
    /// - Throws: What the call throws; `timedOut` at the deadline and `cancelled` when the task is cancelled, both only
    ///   with a timeout: the call itself is then abandoned, goes on on its thread, and its end is ignored.
    func run<Value: Sendable>(
        _ what: @autoclosure @Sendable () -> String,
        _ call: @escaping @Sendable () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        guard let timeout else {
            let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
                submit { continuation.resume(returning: outcome(of: call)) }
            }
            return try result.get()
        }
        let pending = PendingCall<Value>()
        let deadline = DeadlineClock.shared.set(timeout) { pending.finish(.timedOut) }
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard pending.start(continuation) else { return }
                submit { if pending.isWaiting { pending.finish(.ended(outcome(of: call))) } }
            }
        } onCancel: {
            pending.finish(.cancelled)
        }
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

    private func submit(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            guard state.running < width else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        if starts { start(work) }
    }

    private func start(_ work: @escaping @Sendable () -> Void) {
        switch threads {
        case .pool: IOExecutor.shared.submit { self.runFirst(work) }
        case .own:
            do throws(StorageError) {
                try onOwnThread {
                    IOExecutor.markThread()
                    self.runFirst(work)
                }
            } catch {
                // The pool waits until the system gives threads again.
                IOExecutor.shared.submit { self.runFirst(work) }
            }
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

/// A call whose caller may give up before it ends. Whoever finishes first decides; the rest is ignored.
private final class PendingCall<Value: Sendable>: Sendable {
    /// How it came to an end, the store's own errors apart from the host's.
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

    /// Takes the caller's continuation; `false` if the call was given up before it began, and is answered.
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

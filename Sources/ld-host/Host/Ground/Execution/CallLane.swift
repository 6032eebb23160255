package import LocalDataAPI
internal import Synchronization

/// Limits the concurrent calls to one component to `width`, so that a component that hangs cannot take every thread.
/// Adds a deadline to calls that may wait for more than the disk.
package final class CallLane: Sendable {
    private struct State {
        var running = 0
        /// The separate threads that wait for a call.
        var idle = 0
        var waiting = WorkQueue<@Sendable () -> Void>()
    }

    /// The threads that make the calls.
    package enum Threads: Sendable {
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
    package init(
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
    package func run<Value: Sendable>(
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

internal import LocalDataAPI
internal import Synchronization

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

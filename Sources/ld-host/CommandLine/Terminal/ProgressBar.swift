internal import Glibc
internal import Synchronization

/// A bar on standard error that shows how far a long command is; nothing where that is no terminal.
final class ProgressBar: Sendable {
    private let label: String
    private let total: Int
    private let isShown = isatty(STDERR_FILENO) == 1
    private let state = Mutex((done: 0, shown: -1))

    init(_ label: String, total: Int) {
        self.label = label
        self.total = max(1, total)
    }

    /// Shows that one more is done.
    func advance() { update { $0 + 1 } }

    /// Shows that `done` of `total` are done.
    func show(_ done: Int, of total: Int) { update { _ in done * self.total / max(1, total) } }

    private func update(_ done: (Int) -> Int) {
        guard isShown else { return }
        state.withLock { state in
            state.done = done(state.done)
            let percent = state.done * 100 / total
            guard percent != state.shown else { return }
            state.shown = percent
            let filled = percent * 30 / 100
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
            Output.note("\r\(label) [\(bar)] \(percent)%")
        }
    }

    /// Ends the line of the bar.
    func finish() {
        if isShown, state.withLock({ $0.shown >= 0 }) { Output.note("\n") }
    }
}

/// How far a long command is whose end is not known: how many are done, and how many a second. On a terminal in one
/// line, and otherwise a line every few seconds.
final class ProgressCount: Sendable {
    private let label: String
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now
    private let state: Mutex<(last: ContinuousClock.Instant, isShown: Bool)>

    init(_ label: String) {
        self.label = label
        state = Mutex((start, false))
    }

    /// Shows that so many are done, if it is time to.
    func show(_ done: Int) {
        // The clock is asked now and then.
        guard done.isMultiple(of: 64) else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.last >= (isTerminal ? .milliseconds(200) : .seconds(5)) else { return }
            state = (now, true)
            let rate = Int(Double(done) / ((now - start) / .seconds(1)))
            Output.note("\(isTerminal ? "\r" : "")\(label): \(done), \(rate) a second\(isTerminal ? "" : "\n")")
        }
    }

    /// Ends the line.
    func finish() {
        if isTerminal, state.withLock({ $0.isShown }) { Output.note("\n") }
    }
}

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

    func advance() {
        guard isShown else { return }
        show(state.withLock { $0.done } + 1, of: total)
    }

    /// Shows that `done` of `total` are done.
    func show(_ done: Int, of total: Int) {
        guard isShown else { return }
        state.withLock { state in
            state.done = max(state.done, done)
            let percent = state.done * 100 / max(1, total)
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

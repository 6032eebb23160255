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

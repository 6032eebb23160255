package import LocalDataHost
internal import Synchronization

/// How far a long command is: how many are done, of how many, how many a second, and how long it will still take.
///
/// In a terminal that is one line with a bar, which goes away in the end. Elsewhere it is a line every few seconds.
/// A short run shows nothing.
package final class ProgressLine: Sendable {
    /// Where it is shown.
    package enum Place: Sendable {
        /// A terminal of so many columns.
        case terminal(width: @Sendable () -> Int)
        /// A file or a pipe.
        case lines
        case nowhere
    }

    private struct State {
        var label: String
        var total: Int?
        var done = 0
        /// When the first of this was done, with how many.
        var start: (time: ContinuousClock.Instant, done: Int)?
        var next: ContinuousClock.Instant
        var isShown = false
    }

    private let place: Place
    private let now: @Sendable () -> ContinuousClock.Instant
    private let write: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - label: What is done: `importing`.
    ///   - total: Of how many, if that is known.
    ///   - delay: How long a run shows nothing; `nil` is half a second in a terminal, three seconds elsewhere.
    ///   - write: Takes the text of the line, which in a terminal replaces the one before; `""` takes it away.
    package init(
        _ label: String, total: Int? = nil, in place: Place, after delay: Duration? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, write: @escaping @Sendable (String) -> Void
    ) {
        (self.place, self.now, self.write) = (place, now, write)
        let start = now()
        let first: Duration = if case .terminal = place { .milliseconds(500) } else { .seconds(3) }
        state = Mutex(State(label: label, total: total, next: start + (delay ?? first)))
    }

    /// Shows that one more is done.
    package func advance() { update { $0.done += 1 } }

    /// Shows that so many are done. Where another label or total comes, or fewer are done, something else has begun.
    package func show(_ done: Int, of total: Int? = nil, _ label: String? = nil) {
        update { state in
            let isOther = label.map { $0 != state.label } ?? false || total != state.total || done < state.done
            if isOther { state.start = nil }
            (state.done, state.total, state.label) = (done, total, label ?? state.label)
        }
    }

    /// Shows how far a step is.
    package func show(_ progress: StepProgress) { show(progress.done, of: progress.total, progress.step) }

    /// Takes the line away.
    package func finish() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if case .terminal = place, wasShown { write("") }
    }

    private func update(_ change: (inout State) -> Void) {
        if case .nowhere = place { return }
        state.withLock { state in
            change(&state)
            let time = now()
            if state.start == nil { state.start = (time, state.done) }
            guard time >= state.next else { return }
            state.isShown = true
            switch place {
            case .terminal(let width):
                state.next = time + .milliseconds(100)
                write(Self.bar(state, time, width: width() - 1))
            case .lines:
                state.next = time + .seconds(5)
                write("\(state.label): \(Self.counts(state, time))")
            case .nowhere: break
            }
        }
    }

    /// The counts behind a bar that takes what room is left; without it if that is too little.
    private static func bar(_ state: State, _ time: ContinuousClock.Instant, width: Int) -> String {
        let counts = counts(state, time)
        let room = min(width - state.label.count - counts.count - 4, 40)
        guard let total = state.total, total > 0, room >= 8 else {
            return String("\(state.label): \(counts)".prefix(max(0, width)))
        }
        let filled = min(state.done, total) * room / total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled)
        return "\(state.label) [\(bar)] \(counts)"
    }

    private static func counts(_ state: State, _ time: ContinuousClock.Instant) -> String {
        var text = state.done.grouped
        if let total = state.total { text += " of \(total.grouped)" }
        guard let start = state.start else { return text }
        let (seconds, done) = ((time - start.time) / .seconds(1), state.done - start.done)
        guard seconds > 0, done > 0 else { return text }
        let rate = Double(done) / seconds
        text += rate >= 1 ? ", \(Int(rate).grouped) a second" : ", \(Int((rate * 60).rounded(.up))) a minute"
        if let total = state.total, total >= state.done { text += ", \(span(Double(total - state.done) / rate)) left" }
        return text
    }

    private static func span(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 1e9).rounded(.up))
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}

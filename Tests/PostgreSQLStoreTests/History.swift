import Foundation
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport
import Testing

/// What the clients did and saw, in the order of one clock.
final class History: Sendable {
    private struct Write {
        let name: String
        let value: String
        let begin: Int
        let end: Int
    }

    private struct Sight {
        let name: String
        let value: String
        let begin: Int
        let end: Int
    }

    private struct State {
        var left: Int
        var time = 0
        var writes: [Write] = []
        var sights: [Sight] = []
        var failures: [String] = []
        var counts: [String: (done: Int, doubtful: Int)] = [:]
        var unknown = 0
        var failed = 0
    }

    private let state: Mutex<State>

    init(calls: Int) { state = Mutex(State(left: calls)) }

    /// The number of the next call; `nil` after the last one.
    func next() -> Int? {
        state.withLock { state in
            guard state.left > 0 else { return nil }
            state.left -= 1
            return state.left
        }
    }

    func now() -> Int {
        state.withLock { state in
            state.time += 1
            return state.time
        }
    }

    func note(_ failure: String) { state.withLock { $0.failures.append(failure) } }

    /// Notes a write that was acknowledged. One whose outcome is unknown acknowledges nothing.
    func writing(
        _ value: String, to names: [String], removing removed: String? = nil, _ write: () throws -> Void
    ) throws {
        try writing(value, to: names, removing: removed) {
            try write()
            return true
        }
    }

    /// - Parameter write: Returns whether it was made.
    func writing(
        _ value: String, to names: [String], removing removed: String? = nil, _ write: () throws -> Bool
    ) throws {
        let begin = now()
        do {
            guard try reached(write) ?? false else { return }
        } catch StorageError.timedOut { return state.withLock { $0.unknown += 1 } }
        let end = now()
        state.withLock { state in
            state.writes += names.map { Write(name: $0, value: $0 == removed ? "" : value, begin: begin, end: end) }
        }
    }

    /// Makes a call; `nil` if it failed and certainly changed nothing, such as when the answer to a new connection is
    /// lost.
    func reached<Result>(_ call: () throws -> Result) throws -> Result? {
        do { return try call() } catch StorageError.storeUnavailable {
            state.withLock { $0.failed += 1 }
            return nil
        }
    }

    func saw(_ value: String, of name: String, since begin: Int) {
        let end = now()
        state.withLock { $0.sights.append(Sight(name: name, value: value, begin: begin, end: end)) }
    }

    func counting(_ name: String, _ write: () throws -> Bool) throws -> Bool {
        do {
            let isDone = try reached(write) ?? false
            state.withLock { $0.counts[name, default: (0, 0)].done += isDone ? 1 : 0 }
            return isDone
        } catch StorageError.timedOut {
            state.withLock { state in
                state.counts[name, default: (0, 0)].doubtful += 1
                state.unknown += 1
            }
            return true
        }
    }

    var failures: [String] { state.withLock { $0.failures } }

    func counts(_ name: String) -> (done: Int, doubtful: Int) { state.withLock { $0.counts[name] ?? (0, 0) } }

    var summary: String {
        state.withLock { state in
            let counted = state.counts.values.reduce(0) { $0 + $1.done }
            return "\(state.writes.count) writes, \(state.sights.count) sights and \(counted) counts, "
                + "\(state.unknown) unknown, \(state.failed) failed"
        }
    }

    /// The sights of a value after the end of an acknowledged write that had begun when the value was already in
    /// effect. A value is in effect when its write has ended, or when somebody has seen it.
    func returned() -> [String] {
        let (writes, sights) = state.withLock { ($0.writes, $0.sights) }
        var effect: [String: Int] = [:]
        for write in writes { effect["\(write.name) \(write.value)"] = write.end }
        for sight in sights {
            let key = "\(sight.name) \(sight.value)"
            effect[key] = min(effect[key] ?? .max, sight.end)
        }
        var returned: [String] = []
        for (name, writes) in Dictionary(grouping: writes, by: \.name) {
            let writes = writes.sorted { $0.begin < $1.begin }
            // The first end of all writes from an index on.
            var ends = writes.map(\.end)
            for index in ends.indices.dropLast().reversed() { ends[index] = min(ends[index], ends[index + 1]) }
            for sight in sights where sight.name == name {
                let since = effect["\(name) \(sight.value)"] ?? .max
                let next = writes.partitioningIndex { $0.begin > since }
                if next < ends.count, ends[next] < sight.begin {
                    returned.append("\(name): '\(sight.value)', in effect at \(since), came back by \(sight.begin)")
                }
            }
        }
        return returned
    }
}

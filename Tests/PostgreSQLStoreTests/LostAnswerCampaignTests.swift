import Foundation
import LocalDataAPI
import LocalDataHost
import Synchronization
import TestSupport
import Testing

@Suite("A proxy loses one answer of a hundred", .serialized)
struct LostAnswerCampaignTests {
    /// The calls of all clients: 100,000 with `LOCALDATA_TORTURE=1`.
    private static let calls = TestRun.isTorture ? 100_000 : 4000
    private static let writers = 6

    @Test(
        "no value comes back over a later acknowledged one, no batch is torn, and no count is lost",
        arguments: ["", "transaction"])
    func campaign(_ pooler: String) throws {
        // A sample is enough behind a pooler, which only fences off in another way.
        let calls = pooler.isEmpty ? Self.calls : Self.calls / 10
        let server = try PostgreSQLServer.poolers[pooler]?.get() ?? PostgreSQLServer.shared.get()
        let proxy = try CuttingProxy(before: server.port)
        defer { proxy.end() }
        let direct = try OpenStore(PostgreSQLServer.shared.get().uri())
        for count in ["count 0", "count 1"] { try direct.set(count, "0") }
        let uri = "postgresql://localdata@127.0.0.1:\(proxy.port)/postgres?sslmode=disable"
        let history = History(calls: calls)
        proxy.loseAnswers(perThousand: 10)
        // Writers, readers, conditional writers and counters: each has its own connections from begin to end.
        onThreads(Self.writers + 6) { thread in
            do {
                let client = Client(
                    store: try OpenStore(uri, schema: direct.schema, ["timeout": .number(30)]), thread: thread,
                    history: history)
                switch thread {
                case 0..<Self.writers: try client.write()
                case Self.writers..<Self.writers + 2: try client.read()
                case Self.writers + 2..<Self.writers + 4: try client.replace()
                default: try client.count("count \(thread % 2)")
                }
            } catch { history.note("client \(thread): \(error)") }
        }
        proxy.loseAnswers(perThousand: 0)
        #expect(history.failures == [])
        #expect(history.returned() == [], "values that came back over later acknowledged ones")
        for name in ["count 0", "count 1"] {
            let (counted, doubtful) = history.counts(name)
            let found = try #require(try direct.text(name).flatMap { Int($0) })
            #expect(counted > 0 && (counted...counted + doubtful).contains(found), "\(name): \(found), not \(counted)")
        }
        #expect(proxy.losses > calls / 200)
        print("\(pooler): \(history.summary), \(proxy.losses) answers lost")
        #expect(try direct.findings() == [])
    }
}

/// A client of the campaign.
private struct Client {
    let store: OpenStore
    let thread: Int
    let history: History

    /// Sets or removes a value, or sets two that belong together in a batch, which removes a third one.
    func write() throws {
        while let call = history.next() {
            let value = "\(thread) \(call)"
            switch call % 8 {
            case 0..<4: try history.writing(value, to: ["single"]) { try store.set("single", value) }
            case 4: try history.writing("", to: ["single"]) { _ = try store.remove("single") }
            case 5: try history.writing(value, to: ["other"]) { try store.set("other", value) }
            default:
                try history.writing(value, to: ["left", "other", "right"], removing: "other") {
                    try store.apply([("left", value), ("other", nil), ("right", value)])
                }
            }
        }
    }

    /// Reads all values of one moment.
    func read() throws {
        while history.next() != nil {
            let begin = history.now()
            // Values that were already passed cannot be read again, so a lost connection ends the listing.
            guard let values = try history.reached({ try store.values() }) else { continue }
            if values["left"] != values["right"] { history.note("a batch is torn: \(values)") }
            for name in ["single", "left", "other"] { values[name].map { history.saw($0, of: name, since: begin) } }
        }
    }

    /// Replaces the value that it has read, or creates it.
    func replace() throws {
        while let call = history.next() {
            let value = "\(thread) \(call)"
            let begin = history.now()
            guard let found = try history.reached({ try store.revisioned("single") }) else { continue }
            if let found { history.saw(found.text, of: "single", since: begin) }
            let condition = found.map { WriteCondition.revision($0.revision) } ?? .absent
            try history.writing(value, to: ["single"]) { try store.set("single", value, if: condition) != nil }
        }
    }

    /// Adds 1 until nobody else did at the same time.
    func count(_ name: String) throws {
        while history.next() != nil {
            var isDone = false
            while !isDone {
                guard let reached = try history.reached({ try store.revisioned(name) }) else { continue }
                guard let found = reached, let number = Int(found.text) else {
                    return history.note("\(name) is gone")
                }
                isDone = try history.counting(name) {
                    try store.set(name, "\(number + 1)", if: .revision(found.revision)) != nil
                }
            }
        }
    }
}

/// What the clients did and saw, in the order of one clock.
private final class History: Sendable {
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

extension Array {
    /// The first index whose element fulfils a condition that all later elements fulfil, too.
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

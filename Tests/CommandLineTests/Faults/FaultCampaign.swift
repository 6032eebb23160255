import Glibc
import TestSupport
import Testing

/// One operation, disturbed at its points: at all of them with `LOCALDATA_TORTURE=1`, otherwise at a random part, the
/// same for the same `LOCALDATA_SEED`.
struct FaultCampaign<Operation: CustomTestStringConvertible> {
    let operation: Operation
    /// The number of points to try without torture.
    let sample: Int
    /// The largest number of points to try, evenly spread: for operations with very many calls of the same kind.
    var most: Int?

    /// Disturbs the operation in every way at every call.
    ///
    /// - Parameters:
    ///   - fewest: The smallest number of calls; if there are fewer, the injector does not work.
    ///   - prepare: Returns the home in the state before, one for all points or a new one for each.
    ///   - check: Checks the state after a run. The text describes the run, for messages.
    func run(
        fewest: Int, in prepare: () throws -> DisturbedHome, check: (DisturbedHome.Run, _ what: String) throws -> Void
    ) throws {
        let calls = try prepare().calls()
        try #require(calls.count >= fewest, "the injector sees only \(calls.count) calls: \(calls)")
        let all = FaultMode.allCases.flatMap { mode in
            (1...calls.count).map { FaultPoint(mode: mode, number: $0) }
        }
        let step = most.map { max(1, (all.count + $0 - 1) / $0) } ?? 1
        let tried = stride(from: 0, to: all.count, by: step).map { all[$0] }
        attempt(TestRun.sample(sample, of: tried), of: all.count, calls: calls.count) { point, place in
            let run = try prepare().run(point)
            let what = "\(place): \(run.hit): status \(run.ending.status), \(run.ending.errors)"
            if point.mode.kills { #expect(run.ending.status == 128 + SIGKILL, "not killed; \(what)") }
            try check(run, what)
        }
    }

    /// Tries points one after the other, and prints how many of all points these are.
    ///
    /// - Parameter check: Tries one point. An error that it throws fails the test, and the next point follows. The text
    ///   describes the point.
    func attempt<Point>(
        _ points: [Point], of all: Int, calls: Int, check: (Point, _ place: String) throws -> Void
    ) {
        for point in points {
            let place = "\(operation.testDescription), \(point) of \(calls), seed \(TestRun.seed)"
            do { try check(point, place) } catch { Issue.record("\(place): \(error)") }
        }
        print(
            "faults: \(operation.testDescription): \(points.count) of \(all) points at \(calls) calls, "
                + "seed \(TestRun.seed)")
        // A whole campaign takes hours.
        fflush(nil)
    }
}

/// Where an operation is disturbed, and how.
struct FaultPoint: CustomStringConvertible {
    let mode: FaultMode
    /// Which call is hit, from 1.
    let number: Int
    /// Whether every later call is hit, too, as on a full disk.
    var lasts = false

    var description: String { "\(mode.rawValue) \(lasts ? "from" : "at") call \(number)\(lasts ? " on" : "")" }

    /// What the injector needs to hit it.
    var variables: [String: String] {
        let one = ["LD_FAULT_AT": String(number), "LD_FAULT_MODE": mode.rawValue]
        return lasts ? one.merging(["LD_FAULT_EVERY": "1"]) { $1 } : one
    }
}

/// What happens at the call that is hit; see `Tests/FaultInjection/faultshim.c`.
enum FaultMode: String, CaseIterable {
    case killBefore = "kill-before"
    case killTorn = "kill-torn"
    case killAfter = "kill-after"
    case ioError = "eio"
    case noSpace = "enospc"
    case ioErrorAfter = "eio-after"

    var kills: Bool { [.killBefore, .killTorn, .killAfter].contains(self) }
}

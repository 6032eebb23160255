import FoundationEssentials
import Glibc
import Testing

/// One operation, disturbed at every one of its calls that change the file system. All points with
/// `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("The file store under faults", .serialized)
struct FaultCampaignTests {
    /// A number of points of one operation that take about 1.5 s.
    private static let sample = 24

    @Test("a fault at any call leaves the old value or the new, and no debris", arguments: FaultOperation.all)
    func campaign(_ operation: FaultOperation) throws {
        let bench = try FaultBench(operation)
        let calls = try bench.calls()
        try #require(calls.count >= 2, "the injector sees nothing: \(calls)")
        var points = FaultMode.allCases.flatMap { mode in (1...calls.count).map { (mode, $0) } }
        let all = points.count
        if !BuiltProducts.isTorture {
            var generator = SeededGenerator(state: SeededGenerator.seed)
            points = Array(points.shuffled(using: &generator).prefix(Self.sample))
        }
        for (mode, number) in points {
            let place =
                "\(operation.name), \(mode.rawValue) at call \(number) of \(calls.count), seed \(SeededGenerator.seed)"
            do { try check(bench, mode, number, place) } catch { Issue.record("\(place): \(error)") }
        }
        print("faults: \(operation.name): \(points.count) of \(all) points, seed \(SeededGenerator.seed)")
    }

    private func check(_ bench: FaultBench, _ mode: FaultMode, _ number: Int, _ place: String) throws {
        let (ending, calls) = try bench.run(mode, at: number)
        let hit = try #require(calls.dropFirst(number - 1).first, "\(place): the call was not reached")
        let found = try bench.value()
        let operation = bench.operation
        let what = "\(place): \(hit.name) \(hit.path): status \(ending.status), \(ending.errors)"
        #expect(
            found == operation.old || found == operation.new, "a third value of \(found?.count ?? -1) bytes; \(what)")
        // The value's own place was opened by that `get`, which is when the leavings of the dead are removed.
        #expect(try bench.debris(beside: found) == [], "debris; \(what)")
        if mode.kills {
            #expect(ending.status == 128 + SIGKILL, "not killed; \(what)")
        } else {
            // Of a call that is made and then reported as failed, the log does not tell whether it was a success.
            let isPublished =
                mode == .ioErrorAfter && operation.isPublished(by: hit)
                ? nil : calls.contains { $0.result == "0" && operation.isPublished(by: $0) }
            checkReport(of: ending, hit, isNew: found == operation.new, isPublished: isPublished, what)
        }
        try bench.home.done("set", operation.address, "after")
        #expect(try bench.value() == Array("after".utf8), "not writable afterwards; \(what)")
        #expect(try bench.debris(beside: Array("after".utf8)) == [], "debris after the next set; \(what)")
    }

    /// What the program says must be what holds.
    private func checkReport(
        of ending: Home.Ending, _ hit: FaultShim.Call, isNew: Bool, isPublished: Bool?, _ what: String
    ) {
        let saysUnknown = ending.errors.contains("may not survive a power loss")
        switch ending.status {
        case 0:
            #expect(isNew, "success without effect; \(what)")
            #expect(!hit.name.hasSuffix("sync"), "success though a sync failed; \(what)")
        case 2:
            #expect(ending.errors.hasPrefix("ld-host: error: "), "no message; \(what)")
            #expect(ending.errors.contains("/data"), "the message names no file; \(what)")
            #expect(isNew == saysUnknown, "the message does not say what holds; \(what)")
            #expect(isNew == isPublished ?? isNew, "not what the calls have done; \(what)")
        default: Issue.record("an unexpected status; \(what)")
        }
    }

    @Test("the injector is at work: a call that is hit shows in the log and in the status")
    func injectorWorks() throws {
        let bench = try FaultBench(FaultOperation.all[1])
        let number = try #require(try bench.calls().firstIndex { $0.name == "fsync" }) + 1
        let (ending, calls) = try bench.run(.ioError, at: number)
        #expect(ending.status == 2)
        #expect(calls[number - 1].result == "-EIO")
        #expect(try bench.value() == nil)
    }
}

extension FaultOperation {
    /// Whether a call puts the new value in the old one's place.
    fileprivate func isPublished(by call: FaultShim.Call) -> Bool {
        new == nil ? call.name.hasPrefix("unlink") && !call.path.contains("/.tmp/") : call.name.hasPrefix("rename")
    }
}

/// Numbers that a seed determines (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    /// What a campaign's sample is drawn with: the same unless `LOCALDATA_SEED` says another, so that a run that fails
    /// does so for a change. All points are for `LOCALDATA_TORTURE=1`.
    static let seed = ProcessInfo.processInfo.environment["LOCALDATA_SEED"].flatMap(UInt64.init) ?? 1

    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

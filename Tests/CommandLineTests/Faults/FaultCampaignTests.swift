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
        try FaultCampaign(operation: operation, sample: Self.sample)
            .run(fewest: 2, in: { bench.disturbed }) { run, what in try check(bench, run, what) }
    }

    private func check(_ bench: FaultBench, _ run: DisturbedHome.Run, _ what: String) throws {
        let found = try bench.value()
        let operation = bench.operation
        #expect(
            found == operation.old || found == operation.new, "a third value of \(found?.count ?? -1) bytes; \(what)")
        // That `get` opened the value's location, which removes the temporary files of dead processes.
        #expect(try bench.debris(beside: found) == [], "debris; \(what)")
        if !run.mode.kills {
            // If a call is made and then reported as failed, the log does not show whether it succeeded.
            let isPublished =
                run.mode == .ioErrorAfter && operation.isPublished(by: run.hit)
                ? nil : run.calls.contains { $0.result == "0" && operation.isPublished(by: $0) }
            checkReport(of: run.ending, run.hit, isNew: found == operation.new, isPublished: isPublished, what)
        }
        try bench.home.done("set", operation.address, "after")
        #expect(try bench.value() == Array("after".utf8), "not writable afterwards; \(what)")
        #expect(try bench.debris(beside: Array("after".utf8)) == [], "debris after the next set; \(what)")
    }

    /// The program's report must match the result.
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
        let number = try #require(try bench.disturbed.calls().firstIndex { $0.name == "fsync" }) + 1
        let run = try bench.disturbed.run(FaultPoint(mode: .ioError, number: number))
        #expect(run.ending.status == 2)
        #expect(run.hit.result == "-EIO")
        #expect(try bench.value() == nil)
    }
}

extension FaultOperation {
    /// Whether a call replaces the old value with the new one.
    fileprivate func isPublished(by call: FaultShim.Call) -> Bool {
        new == nil ? call.name.hasPrefix("unlink") && !call.path.contains("/.tmp/") : call.name.hasPrefix("rename")
    }
}

import FoundationEssentials
import Glibc
import LocalDataHost
import Testing

/// The lifecycle of an intent, disturbed at every one of its calls that change the file system. All points with
/// `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("The journal under faults", .serialized)
struct JournalCampaignTests {
    /// A number of points of one journal that take about 1.5 s.
    private static let sample = 12

    @Test(
        "a fault at any call leaves an intent as it was before or after, and one that others can take over",
        arguments: JournalOperation.allCases)
    func campaign(_ operation: JournalOperation) throws {
        try FaultCampaign(operation: operation, sample: Self.sample)
            .run(fewest: 10, in: { try operation.prepare() }) { run, what in try check(operation, run, what) }
    }

    private func check(_ operation: JournalOperation, _ run: DisturbedHome.Run, _ what: String) throws {
        let home = run.home.path
        let steps = ((try? String(contentsOfFile: "\(home)/steps", encoding: .utf8)) ?? "").split(separator: "\n")
        let what: Comment = "\(what), \(steps)"
        #expect(!steps.contains { $0.hasPrefix("wrong") }, what)
        if !run.mode.kills {
            #expect(steps.last == "finished" && run.ending.status == 0, what)
            let isTold = steps.contains { $0.hasPrefix("failed") && $0.contains(home) }
            #expect(isTold || run.hit.name.hasPrefix("unlink"), "no error was thrown; \(what)")
        }

        let journal = try JournalSteps.journal(of: home)
        let survey = try journal.survey()
        #expect(survey.unreadable.isEmpty, "\(survey.unreadable); \(what)")
        #expect(survey.pending.allSatisfy { $0.state == .interrupted }, what)
        #expect(survey.pending.count { $0.kind == "earlier" } == (operation == .first ? 0 : 1), what)
        let own = survey.pending.filter { $0.kind == JournalSteps.kind }
        let payloads = own.map { JournalSteps.payloads.firstIndex(of: $0.payload) ?? -1 }
        let expected: [[Int]] =
            switch steps.last {
            case "begun": [[0], [1]]
            case "updated": [[1], []]
            case "finished": [[]]
            default: [[], [0]]
            }
        #expect(expected.contains(payloads), "payloads \(payloads); \(what)")
        for intent in own { try journal.adopt(intent.id).finish() }
        // After a kill at the first call, there is no folder yet.
        let folder = home + "/state/journal"
        guard FileManager.default.fileExists(atPath: folder) else { return }
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0 != ".tmp" }
        let debris = left.filter { operation == .first || !$0.hasSuffix(".intent") }
        #expect(debris == [], "debris; \(what)")
    }
}

/// The lifecycle of an intent, which the campaign disturbs.
enum JournalOperation: String, CaseIterable, CustomTestStringConvertible {
    case first = "first intent"
    case later = "later intent"

    var testDescription: String { rawValue }

    /// A home with a journal. Unless this operation is the first, the journal has another, interrupted intent.
    func prepare() throws -> DisturbedHome {
        let home = try Home()
        try FileManager.default.createDirectory(atPath: "\(home.path)/state", withIntermediateDirectories: false)
        if self == .later { _ = try JournalSteps.journal(of: home.path).begin(kind: "earlier", subject: "s") }
        return try DisturbedHome(home, in: ["state"]) { try JournalSteps.run(in: home, $0) }
    }
}

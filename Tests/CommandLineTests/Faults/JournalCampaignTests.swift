import FoundationEssentials
import Glibc
import LocalDataHost
import Testing

/// The life of an intent, disturbed at every one of its calls that change the file system. All points with
/// `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same `LOCALDATA_SEED`.
@Suite("The journal under faults", .serialized)
struct JournalCampaignTests {
    /// A number of points of one journal that take about 1.5 s.
    private static let sample = 12

    @Test(
        "a fault at any call leaves an intent as it was before or after, and one that others can take over",
        arguments: [true, false])
    func campaign(isFirst: Bool) throws {
        let count = try run(isFirst, [:]).calls.count
        try #require(count >= 10, "the injector sees only \(count) calls")
        var points = FaultMode.allCases.flatMap { mode in (1...count).map { (mode, $0) } }
        let all = points.count
        if !BuiltProducts.isTorture {
            var generator = SeededGenerator(state: SeededGenerator.seed)
            points = Array(points.shuffled(using: &generator).prefix(Self.sample))
        }
        for (mode, number) in points {
            let place =
                "\(isFirst ? "first" : "later") intent, \(mode.rawValue) at call \(number), seed \(SeededGenerator.seed)"
            do { try check(isFirst, mode, number, place) } catch { Issue.record("\(place): \(error)") }
        }
        print(
            "faults: \(isFirst ? "first" : "later") intent: \(points.count) of \(all) points, seed \(SeededGenerator.seed)"
        )
    }

    private func check(_ isFirst: Bool, _ mode: FaultMode, _ number: Int, _ place: String) throws {
        let result = try run(isFirst, ["LD_FAULT_AT": String(number), "LD_FAULT_MODE": mode.rawValue])
        let hit = try #require(result.calls.dropFirst(number - 1).first, "\(place): the call was not reached")
        let what: Comment = "\(place): \(hit.name) \(hit.path): status \(result.ending.status), \(result.steps)"
        #expect(!result.steps.contains { $0.hasPrefix("wrong") }, what)
        if mode.kills {
            #expect(result.ending.status == 128 + SIGKILL, "not killed; \(what)")
        } else {
            #expect(result.steps.last == "finished" && result.ending.status == 0, what)
            let isTold = result.steps.contains { $0.hasPrefix("failed") && $0.contains(result.home.path) }
            #expect(isTold || hit.name.hasPrefix("unlink"), "no error was thrown; \(what)")
        }

        let journal = try JournalSteps.journal(of: result.home.path)
        let survey = try journal.survey()
        #expect(survey.unreadable.isEmpty, "\(survey.unreadable); \(what)")
        #expect(survey.pending.allSatisfy { $0.state == .interrupted }, what)
        #expect(survey.pending.count { $0.kind == "earlier" } == (isFirst ? 0 : 1), what)
        let own = survey.pending.filter { $0.kind == JournalSteps.kind }
        let payloads = own.map { JournalSteps.payloads.firstIndex(of: $0.payload) ?? -1 }
        let expected: [[Int]] =
            switch result.steps.last {
            case "begun": [[0], [1]]
            case "updated": [[1], []]
            case "finished": [[]]
            default: [[], [0]]
            }
        #expect(expected.contains(payloads), "payloads \(payloads); \(what)")
        for intent in own { try journal.adopt(intent.id).finish() }
        let debris = try FileManager.default.subpathsOfDirectory(atPath: result.home.path + "/state")
            .filter { $0.hasPrefix("journal/") && $0 != "journal/.tmp" && !(!isFirst && $0.hasSuffix(".intent")) }
        #expect(debris == [], "debris; \(what)")
    }

    private struct Run {
        let home: Home
        let ending: Home.Ending
        let steps: [String]
        let calls: [FaultShim.Call]
    }

    private func run(_ isFirst: Bool, _ variables: [String: String]) throws -> Run {
        let home = try Home()
        try FileManager.default.createDirectory(atPath: "\(home.path)/state", withIntermediateDirectories: false)
        if !isFirst {
            _ = try JournalSteps.journal(of: home.path).begin(kind: "earlier", subject: "s")
        }
        let log = "\(home.path)/log"
        let injector = [
            "LD_PRELOAD": try FaultShim.library.get(), "LD_FAULT_ROOT": "\(home.path)/state", "LD_FAULT_LOG": log,
        ]
        let ending = try JournalSteps.run(in: home, injector.merging(variables) { $1 })
        let steps = (try? String(contentsOfFile: "\(home.path)/steps", encoding: .utf8)) ?? ""
        return Run(
            home: home, ending: ending, steps: steps.split(separator: "\n").map(String.init),
            calls: try FaultShim.calls(in: log))
    }
}

@testable import FolderSync
import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

/// Publications into a shared folder with segments and a base, disturbed at every one of their calls that change the
/// file system. All points with `LOCALDATA_TORTURE=1`; otherwise a random part of them, the same for the same
/// `LOCALDATA_SEED`.
@Suite("FolderSync under faults", .serialized)
struct FolderSyncCampaignTests {
    /// A number of points that take about 10 s.
    private static let sample = 48

    private struct Publications: CustomTestStringConvertible {
        let testDescription = "publications into a shared folder"
    }

    /// A home with the position of an earlier reader, which is the same in each home.
    private final class Bench {
        let home: Home
        let disturbed: DisturbedHome
        let position: Data

        init() throws {
            home = try Home()
            try TemporaryFolder.makeFolder("\(home.path)/shared")
            let transport = try FolderSyncSteps.transport(of: home.path)
            for number in 0..<20 { try transport.publish([FolderSyncSteps.record(number)]) }
            position = try transport.fetch(since: nil) { FolderSyncSteps.number(of: $0) != 12 }
            disturbed = try DisturbedHome(home, in: ["shared"]) { [home] in try FolderSyncSteps.run(in: home, $0) }
        }
    }

    @Test("a fault at any call loses nothing that was acknowledged, and the next publication recovers")
    func campaign() throws {
        let bench = try Bench()
        try FaultCampaign(operation: Publications(), sample: Self.sample)
            .run(
                fewest: 40,
                in: {
                    try? FileManager.default.removeItem(atPath: "\(bench.home.path)/steps")
                    return bench.disturbed
                }
            ) { run, what in try check(bench, run, what) }
    }

    private func check(_ bench: Bench, _ run: DisturbedHome.Run, _ what: String) throws {
        let home = bench.home.path
        let text = (try? String(contentsOfFile: "\(home)/steps", encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2) }
        let what: Comment = "\(what), \(text)"
        let acknowledged = lines.filter { $0[0] == "acknowledged" }.compactMap { Int($0[1]) }
        for line in lines where line[0] == "failed" { #expect(line[2].contains(home), "it names no file; \(what)") }
        if !run.mode.kills {
            #expect(run.ending.status == 0 && lines.count == FolderSyncSteps.numbers.count, what)
            #expect(lines.count { $0[0] == "failed" } <= 1, "one fault fails one call; \(what)")
        }
        var last: [Int: Int] = [:]
        for number in Array(0..<20) + acknowledged { last[number % 5] = number }
        try expect(last, in: bench, what)
        try FolderSyncSteps.transport(of: home).publish([FolderSyncSteps.record(200)])
        last[0] = 200
        try expect(last, in: bench, what)
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(home)/shared/device")
        #expect(files.allSatisfy { $0.hasSuffix(".segment") }, "debris \(files); \(what)")
    }

    /// Checks the records that a new reader and an earlier one fetch: for each name that number or a later one, and no
    /// torn record.
    private func expect(_ last: [Int: Int], in bench: Bench, _ what: Comment) throws {
        for position in [nil, bench.position] {
            var found: [Int: Int] = [:]
            _ = try FolderSyncSteps.transport(of: bench.home.path).fetch(since: position) { record in
                guard let number = FolderSyncSteps.number(of: record) else {
                    Issue.record("a torn record; \(what)")
                    return false
                }
                #expect(number > found[number % 5] ?? -1, "out of order; \(what)")
                found[number % 5] = number
                return true
            }
            for (name, number) in last { #expect(found[name] ?? -1 >= number, "\(name) is lost; \(what)") }
        }
    }
}

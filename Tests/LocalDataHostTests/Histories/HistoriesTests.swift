import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

/// Whatever the releases of an app change, and whatever its users do, each acknowledged value is read by its current
/// key, or an error says why not.
///
/// `LOCALDATA_HISTORIES` chooses the kinds of events, by names with commas between them. `make torture` runs them with
/// many seeds.
@Suite("histories of releases", .timeLimit(.minutes(10))) struct HistoriesTests {
    private static let parts: [HistoryPart] = {
        let first = (TestRun.seed - 1) * 1_000_000
        let campaigns = HistoryKind.campaigns
        guard TestRun.environment["LOCALDATA_HISTORIES"] != nil else {
            return campaigns.map { HistoryPart(kinds: $0, first: first, count: 33) }
        }
        let kinds = Set(HistoryKind.allCases.filter { TestRun.isWanted($0.rawValue, in: "LOCALDATA_HISTORIES") })
        return (0..<10).map { HistoryPart(kinds: kinds, first: first + $0 * 36, count: 33) }
    }()

    // In processes of their own: a router is never freed, nor is a file that it has open.
    @Test("each acknowledged value is read by its current key", arguments: parts)
    func histories(_ part: HistoryPart) async throws {
        await #expect(processExitsWith: .success) { [part] in
            OpenFiles.raiseLimit()
            let findings = try await HistoryCampaign(kinds: part.kinds).failures(part.seeds)
            for story in findings.stories { Issue.record("\(story)") }
            let summary = findings.summary
            #expect(findings.failures.isEmpty, "\(summary)")
            // A host that refuses everything would lose nothing.
            #expect(findings.refusals * 5 < findings.reads, "\(summary)")
        }
    }
}

/// Some histories of a campaign.
struct HistoryPart: Codable, Sendable, CustomTestStringConvertible {
    var kinds: Set<HistoryKind>
    var first: UInt64
    var count: UInt64

    var seeds: Range<UInt64> { first..<first + count }

    var testDescription: String {
        "\(count) of \(kinds.map(\.rawValue).sorted().joined(separator: ", ")) from seed \(first)"
    }
}

/// Proves the histories: they find the typical faults of such a host.
@Suite("faults that histories find", .timeLimit(.minutes(10))) struct HistoryFaultTests {
    @Test("a fault of the host is found", arguments: HistoryFault.allCases)
    func find(_ fault: HistoryFault) async throws {
        await #expect(processExitsWith: .success) { [fault] in
            OpenFiles.raiseLimit()
            let found = try await withTaskExecutorPreference(WaitingThreads.shared) {
                try await HistoryCampaign(kinds: fault.kinds).finds(fault)
            }
            #expect(found, "\(HistoryFault.most) histories do not find it")
        }
    }
}

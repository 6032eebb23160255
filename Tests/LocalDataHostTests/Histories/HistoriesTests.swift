import LocalDataAPI
import TestSupport
import Testing

@testable import LocalDataHost

/// Whatever the releases of an app change, and whatever its users do, each acknowledged value is read by its current
/// key, or an error says why not.
///
/// `LOCALDATA_HISTORIES` chooses the kinds of events, by names with commas between them. `make torture` runs them with
/// many seeds, each in a process of its own: a router is never freed.
@Suite("histories of releases", .timeLimit(.minutes(10))) struct HistoriesTests {
    private static let campaigns: [Set<HistoryKind>] =
        TestRun.environment["LOCALDATA_HISTORIES"] == nil
        ? HistoryKind.campaigns
        : [Set(HistoryKind.allCases.filter { TestRun.isWanted($0.rawValue, in: "LOCALDATA_HISTORIES") })]

    @Test("each acknowledged value is read by its current key", arguments: campaigns)
    func histories(_ kinds: Set<HistoryKind>) async throws {
        let first = (TestRun.seed - 1) * 1_000_000
        let count = UInt64(360 / Self.campaigns.count)
        let findings = try await HistoryCampaign(kinds: kinds).failures(first..<first + count)
        for story in findings.stories { Issue.record("\(story)") }
        let summary = findings.summary
        #expect(findings.failures.isEmpty, "\(summary)")
        // A host that refuses everything would lose nothing.
        #expect(findings.refusals * 5 < findings.reads, "\(summary)")
    }
}

/// Proves the histories: they find the typical faults of such a host.
@Suite("faults that histories find", .timeLimit(.minutes(10))) struct HistoryFaultTests {
    @Test("a fault of the host is found", arguments: HistoryFault.allCases)
    func find(_ fault: HistoryFault) async throws {
        let found = try await withTaskExecutorPreference(WaitingThreads.shared) {
            try await HistoryCampaign(kinds: fault.kinds).finds(fault)
        }
        #expect(found, "\(HistoryFault.most) histories do not find it")
    }
}

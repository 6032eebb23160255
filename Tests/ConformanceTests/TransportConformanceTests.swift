import LocalDataAPI
import LocalDataTesting
import TestSupport
import Testing

@Suite("The conformance kit for sync transports", .serialized)
struct TransportConformanceTests {
    @Test("finds nothing in a correct transport, and skips nothing")
    func correctTransportPasses() async throws {
        let report = try await SyncConformance.run(CorrectTransport.self)
        #expect(report.results.map(\.id) == ConformanceCheck.all(for: .sync).map(\.id))
        #expect(report.results.allSatisfy { $0.outcome == .passed }, "\(report)")
    }

    @Test("finds nothing in the plugin of shared folders, and skips nothing")
    func folderPasses() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let end = try Built.testPlugin(
            BuiltProducts.plugin("FolderSync"), "--verbose", "--options", #"{"folder": "\#(folder.path)"}"#)
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        let count = ConformanceCheck.all(for: .sync).count
        #expect(end.output.contains("\(count) passed, 0 failed, 0 skipped"), "\(end.output)")
    }

    @Test("fails the check whose promise a transport breaks", arguments: BrokenTransport.all)
    func brokenTransportFails(_ broken: BrokenTransport) async throws {
        let report = try await broken.run(["sync.\(broken.check)"])
        #expect(report.failures.map(\.id) == ["sync.\(broken.check)"], "\(report)")
    }

    /// All transports with `LOCALDATA_TORTURE=1`; otherwise one, the same for the same `LOCALDATA_SEED`.
    @Test("fails no other check", arguments: TestRun.sample(1, of: BrokenTransport.all))
    func brokenTransportFailsNoOther(_ broken: BrokenTransport) async throws {
        let report = try await broken.run(nil)
        #expect(report.failures.map(\.id) == ["sync.\(broken.check)"], "\(report.failures)")
    }

    @Test("has a broken transport for each check")
    func complete() {
        let broken = BrokenTransport.all.map { "sync.\($0.check)" }
        #expect(Set(broken).count == broken.count)
        #expect(Set(broken) == Set(ConformanceCheck.all(for: .sync).map(\.id)))
    }
}

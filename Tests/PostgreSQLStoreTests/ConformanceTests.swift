import Foundation
import LocalDataHost
import TestSupport
import Testing

@Suite("The PostgreSQL plugin keeps every promise of a store")
struct ConformanceTests {
    private func expectConformance(_ uri: String) throws {
        let options = #"{"uri": "\#(uri)", "schema": "\#(OpenStore.newSchema())", "largestValue": 8400000}"#
        let end = try ChildProcess(
            BuiltProducts.host,
            arguments: ["plugins", "test", OpenStore.plugin, "--timeout", "240", "--options", options],
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
        ).run(deadline: .seconds(300))
        let report = String(decoding: end.output, as: UTF8.self)
        #expect(end.outcome == .exited(code: 0), "\(report)\(end.errorText)")
        // Only wiping is not offered.
        #expect(report.contains(" 0 failed, 2 skipped"), "\(report)")
    }

    @Test("on a server")
    func direct() throws { try expectConformance(PostgreSQLServer.shared.get().uri()) }

    @Test("through PgBouncer", arguments: ["session", "transaction"])
    func pooled(_ mode: String) throws { try expectConformance(#require(PostgreSQLServer.poolers[mode]).get().uri()) }
}

import Foundation
import LocalDataHost
import TestSupport
import Testing

@Suite("The NATS plugin keeps every promise of a sync transport")
struct ConformanceTests {
    @Test("with each server", arguments: NATSServer.Version.installed)
    func all(_ version: NATSServer.Version) throws {
        let server = try NATSServer(version)
        let end = try ChildProcess(
            BuiltProducts.host,
            arguments: [
                "plugins", "test", OpenTransport.plugin, "--timeout", "240", "--options",
                #"{"servers": "\#(server.url)"}"#,
            ],
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
        ).run(deadline: .seconds(300))
        let report = String(decoding: end.output, as: UTF8.self)
        #expect(end.outcome == .exited(code: 0), "\(report)\(end.errorText)")
        #expect(report.contains("31 passed, 0 failed, 0 skipped"), "\(report)")
    }
}

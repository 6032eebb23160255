import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("Plugins that were built for an earlier minor of the ABI", .serialized)
struct KeptConformanceTests {
    private static let cases = KeptPlugins.all.flatMap { kept in KeptPlugins.kinds.map { (kept, $0) } }

    @Test("pass every check of today's kit", arguments: cases)
    func pass(_ kept: KeptPlugins, _ kind: String) throws {
        // Not in /tmp: a host may refuse plugins there, since others can write to it.
        let folder = try TemporaryFolder.make(in: BuiltProducts.folder, named: "kept")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try kept.install(in: folder)
        let end = try Built.testPlugin("\(folder)/libKept\(kind).so")
        #expect(end.status == 0 && end.output.contains(" passed, 0 failed, "), "\(end.output)\(end.errors)")
    }

    @Test("are unchanged: never rebuilt", arguments: KeptPlugins.all)
    func unchanged(_ kept: KeptPlugins) throws {
        let end = try ChildProcess(
            "/usr/bin/env", arguments: ["--chdir=\(kept.folder)", "sha256sum", "--check", "--strict", "SHA256SUMS"],
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
        ).run(deadline: .seconds(60))
        #expect(end.outcome == .exited(code: 0), "\(String(decoding: end.output, as: UTF8.self))\(end.errorText)")
        let listed = try Repository.text("Tests/PluginFixtures/Kept/\(kept.abi)/SHA256SUMS").split(separator: "\n")
        let expected = KeptPlugins.machines.flatMap { machine in
            KeptPlugins.kinds.map { "\(machine)/libKept\($0).so" }
        }
        #expect(Set(listed.map { String($0.dropFirst(66)) }) == Set(expected))
    }

    @Test("need no library, and reveal nothing about the machine that built them", arguments: KeptPlugins.all)
    func bare(_ kept: KeptPlugins) throws {
        for machine in KeptPlugins.machines {
            for kind in KeptPlugins.kinds {
                let bytes = try Data(contentsOf: URL(filePath: kept.file(kind, machine: machine)))
                #expect(bytes.count < 64 << 10, "\(machine) \(kind): \(bytes.count) bytes")
                for trace in ["/home/", "/tmp/", "/usr/", "/root", ".c\0", "clang", "GCC: ", "LLD ", ".so."] {
                    #expect(!bytes.contains(Array(trace.utf8)), "\(machine) \(kind) has '\(trace)'")
                }
                // Nor may they contain the path of any other folder.
                let text = String(decoding: bytes, as: Unicode.ASCII.self)
                let paths = text.matches(of: /\/[A-Za-z][A-Za-z0-9._-]*\//).map { String($0.output) }
                #expect(paths == [], "\(machine) \(kind)")
            }
        }
    }
}

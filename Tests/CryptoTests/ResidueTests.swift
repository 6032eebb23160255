import Foundation
import LocalDataHost
import Testing

@Suite("What providers leave in memory") struct ResidueTests {
    private func run(_ program: String, _ arguments: [String]) throws -> ChildProcess.Completion {
        try ChildProcess(program, arguments: arguments, environment: ["PATH": "/usr/bin:/bin"])
            .run(deadline: .seconds(120))
    }

    @Test("no keys, derived keys or plaintext are left in memory", arguments: BuiltProvider.allCases)
    func residue(_ provider: BuiltProvider) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let headers = tests.deletingLastPathComponent().appending(path: "Sources/LocalDataAPI/CLocalData/include")
        let folder = FileManager.default.temporaryDirectory.appending(path: "localdata-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appending(path: "residue").path(percentEncoded: false)
        let compiled = try run(
            "/usr/bin/cc",
            [
                "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", headers.path(percentEncoded: false),
                tests.appending(path: "PluginFixtures/residue.c").path(percentEncoded: false), "-o", program, "-ldl",
            ])
        try #require(compiled.outcome == .exited(code: 0), "\(compiled.errorText)")
        let end = try run(program, [provider.library])
        let text = String(decoding: end.output, as: UTF8.self)
        #expect(end.outcome == .exited(code: 0), "\(text)\(end.errorText)")
        // It searched after each algorithm that the provider declares.
        let searched = try provider.open().algorithms.keys.filter { text.contains("algorithm \($0): searched for") }
        #expect(try searched.count == provider.open().algorithms.count)
    }
}

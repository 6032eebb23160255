import Foundation
import LocalDataHost
import TestSupport
import Testing

@Suite("What providers leave in memory") struct ResidueTests {
    private func run(_ program: String, _ arguments: [String]) throws -> ChildProcess.Completion {
        try ChildProcess(program, arguments: arguments, environment: ["PATH": "/usr/bin:/bin"])
            .run(deadline: .seconds(120))
    }

    @Test("no keys, derived keys or plaintext are left in memory", arguments: BuiltProvider.allCases)
    func residue(_ provider: BuiltProvider) throws {
        let folder = try TemporaryFolder()
        let program = "\(folder.path)/residue"
        let compiled = try run(
            "/usr/bin/cc",
            [
                "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", Repository.header,
                "\(Repository.tests)/PluginFixtures/residue.c", "-o", program, "-ldl",
            ])
        try #require(compiled.outcome == .exited(code: 0), "\(compiled.errorText)")
        let end = try run(program, [provider.library])
        let text = String(decoding: end.output, as: UTF8.self)
        #expect(end.outcome == .exited(code: 0), "\(text)\(end.errorText)")
        // The plugin searched after each algorithm that the provider declares.
        let searched = try provider.open().algorithms.keys.filter { text.contains("algorithm \($0): searched for") }
        #expect(try searched.count == provider.open().algorithms.count)
    }
}

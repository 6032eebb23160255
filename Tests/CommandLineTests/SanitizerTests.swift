import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("Sanitizers", .timeLimit(.minutes(5)))
struct SanitizerTests {
    private func run(
        _ program: String, _ arguments: [String], in folder: String, adding variables: [String: String] = [:]
    ) throws -> ChildProcess.Completion {
        try ChildProcess(
            "/usr/bin/env", arguments: [program] + arguments,
            environment: self.variables(folder).merging(variables) { $1 }
        ).run(deadline: .seconds(120))
    }

    private func variables(_ folder: String) -> [String: String] {
        TestRun.environment.merging([
            "HOME": folder, "XDG_DATA_HOME": "\(folder)/data", "XDG_STATE_HOME": "\(folder)/state",
            "XDG_CONFIG_HOME": "\(folder)/config", "LOCALDATA_PLUGIN_PATH": BuiltProducts.folder,
        ]) { $1 }
    }

    @Test("find no leak in an app that stores, migrates and ends")
    func leaks() throws {
        let folder = try TemporaryFolder.make(named: "localdata-leaks")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let library = try run("gcc", ["-print-file-name=liblsan.so"], in: folder)
        let path = String(decoding: library.output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        try #require(path.hasPrefix("/"), "gcc's leak sanitizer is missing: \(path)")
        for command in ["prepare", "run"] {
            // Not with `env`, which leaks itself.
            let end = try ChildProcess(
                "\(BuiltProducts.folder)/migration-exercise", arguments: ["legacy", "database", "files", command],
                environment: variables(folder).merging(["LD_PRELOAD": path]) { $1 }
            ).run(deadline: .seconds(120))
            #expect(end.outcome == .exited(code: 0), "\(command): \(end.errorText.suffix(4000))")
        }
    }

    @Test("of threads, with the list of this package, leave the standard library's locks alone, and find a race")
    func races() throws {
        let folder = try TemporaryFolder.make(named: "localdata-races")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let threads = """
            let threads = (0..<4).map { _ in Thread { for _ in 0..<1000 { counter.add() } } }
            for thread in threads { thread.start() }
            Thread.sleep(forTimeInterval: 0.5)
            """
        let counters = [
            "locked": """
            import Foundation
            import Synchronization
            final class Counter: Sendable {
                let count = Mutex([0])
                func add() { count.withLock { $0[0] += 1 } }
            }
            """,
            "racing": """
            import Foundation
            final class Counter: @unchecked Sendable {
                var count = 0
                func add() { count += 1 }
            }
            """,
        ]
        let list = "\(Repository.root)/Examples/thread-sanitizer.supp"
        for (name, counter) in counters {
            let source = "\(folder)/\(name).swift"
            try "\(counter)\nlet counter = Counter()\n\(threads)\n"
                .write(toFile: source, atomically: false, encoding: .utf8)
            let words = ["-swift-version", "6", "-sanitize=thread", source, "-o", "\(folder)/\(name)"]
            let build = try run("swiftc", words, in: folder)
            try #require(build.outcome == .exited(code: 0), "\(build.errorText)")
            let end = try run("\(folder)/\(name)", [], in: folder, adding: ["TSAN_OPTIONS": "suppressions=\(list)"])
            let isFound = end.errorText.contains("ThreadSanitizer:")
            #expect(isFound == (name == "racing"), "\(name): \(end.errorText.suffix(4000))")
        }
    }
}

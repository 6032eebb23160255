import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("CONTRIBUTING says what to run")
struct ContributingTests {
    @Test("in suites and folders of tests that exist")
    func rows() throws {
        let rows = try Repository.text("CONTRIBUTING.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
            .dropFirst()
        let words = rows.flatMap { $0.split(separator: "`", omittingEmptySubsequences: false) }
            .flatMap { $0.split(separator: " ") }.map { $0.filter { $0.isLetter || "/.".contains($0) } }
            .filter { $0.contains("Tests") }
        #expect(words.count >= 15)
        let sources = try Repository.files(below: "Tests") { $0.hasSuffix("Tests.swift") }.map {
            try Repository.text($0)
        }
        for word in words where !word.hasSuffix("FOLDER") {
            let parts = word.split(separator: ".")
            if parts.count == 1, FileManager.default.fileExists(atPath: "\(Repository.tests)/\(word)") { continue }
            let suite = parts.last ?? ""
            #expect(sources.contains { $0.contains("struct \(suite) ") }, "\(word)")
        }
    }

    @Test("of the host's folders, each with tests as its sources are named")
    func folders() {
        // By the files, as a checkout that was another commit's may have folders that hold none.
        func folders(_ path: String) -> Set<String> {
            let files = Repository.files(below: path) { $0.hasSuffix(".swift") || $0.hasSuffix(".h") }
            return Set(
                files.map { $0.dropFirst(path.count + 1).split(separator: "/").dropLast().joined(separator: "/") })
        }
        let host = folders("Sources/ld-host/Host")
        let floors = host.map { String($0.prefix { $0 != "/" }) }
        let known = host.union(floors).union(folders("Sources/LocalDataAPI")).union(["Clients", "Histories"])
        let tests = folders("Tests/LocalDataHostTests")
        // A folder may have a part of its own of what the sources have in one.
        let strangers = tests.filter { test in
            let above = test.split(separator: "/").dropLast().joined(separator: "/")
            return !known.contains(test) && !known.contains(above)
        }
        #expect(strangers == [])
        #expect(tests.intersection(host).count >= 15)
    }

    @Test("with a filter that .ci/suites makes of folders")
    func filter() throws {
        let folders = ["LocalDataHostTests/Transfer/Backup", "LocalDataHostTests/Sync/Group"]
        func suites(_ folders: [String]) throws -> ChildProcess.Completion {
            try ChildProcess(
                "\(Repository.root)/.ci/suites", arguments: folders, environment: ["PATH": "/usr/bin:/bin"]
            )
            .run(deadline: .seconds(60))
        }
        let filter = try suites(folders)
        #expect(filter.outcome == .exited(code: 0))
        let expression = try Regex(String(decoding: filter.output, as: UTF8.self).filter { $0 != "\n" })
        #expect(try expression.firstMatch(in: "LocalDataHostTests.BackupTests/empty()") != nil)
        #expect(try expression.firstMatch(in: "LocalDataHostTests.GroupConvergenceTests/converge()") != nil)
        #expect(try expression.firstMatch(in: "LocalDataHostTests.ResealTests/all()") == nil)
        #expect(try suites(["LocalDataHostTests/Missing"]).outcome == .exited(code: 64))
        #expect(try suites([]).outcome == .exited(code: 64))
    }
}

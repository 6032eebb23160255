import FoundationEssentials
import TestSupport
import Testing

@Suite("The sessions of the README and the guides")
struct GuideSessionTests {
    private static func sessions(_ path: String) throws -> [String] {
        try String(contentsOfFile: "\(Repository.root)/\(path)", encoding: .utf8).split(separator: "```console\n")
            .dropFirst().compactMap { $0.split(separator: "```").first.map(String.init) }
    }

    /// The articles of the catalogs that have sessions, except `WritingAPlugin`, whose sessions build packages.
    private static let articles: [String] = {
        let sources = "\(Repository.root)/Sources"
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: sources)) ?? []
        return all.filter { $0.contains(".docc/") && $0.hasSuffix(".md") && !$0.hasSuffix("/WritingAPlugin.md") }
            .map { "Sources/\($0)" }.filter { (try? !sessions($0).isEmpty) ?? true }.sorted()
    }()

    @Test("run as they are written; those of one guide share a home", arguments: articles)
    func guide(_ path: String) throws {
        let home = try Home()
        if path.hasSuffix("/ManyMachines.md") { home.add("DATABASE", try PostgreSQLServer.shared.get().uri()) }
        for session in try Self.sessions(path) {
            for failure in try TerminalSession(session).play(in: home) { Issue.record("\(path): \(failure)") }
        }
    }

    @Test("are found in the guides")
    func guidesAreFound() { #expect(Self.articles.count >= 5) }

    @Test("begin with the README's first one; its second one runs where the example is built")
    func readme() throws {
        let sessions = try Self.sessions("README.md")
        #expect(try TerminalSession(try #require(sessions.first)).play(in: Home()) == [])
    }

    @Test(
        "fail on a line that differs, is missing or is extra, and on a failure that is not shown",
        arguments: [
            "$ echo a\nb", "$ echo a", "$ true\na", "$ printf 'a\\nb'\n...b...c", "$ false", "$ echo a.c\na...d",
        ])
    func mismatch(_ session: String) throws {
        #expect(try TerminalSession(session).play(in: Home()).count == 1)
    }

    @Test(
        "take lines, gaps in lines and between them, and a failure that is shown",
        arguments: [
            "$ echo a\na", "$ printf a\na", "$ echo 'a (b) c'\na (...) c", "$ seq 9\n1\n...\n9",
            "$ ld-host get userDefaults/theme; ld-host config set domains.x\nld-host: error: ...\n...",
        ])
    func match(_ session: String) throws {
        #expect(try TerminalSession(session).play(in: Home()) == [])
    }
}

import FoundationEssentials
import TestSupport
import Testing

/// `LOCALDATA_SESSIONS` chooses the files, by names with commas between them.
@Suite("Whole sessions with ld-host")
struct SessionTests {
    private static let folder = "\(Repository.root)/Tests/CommandLineTests/Sessions"

    private static let sessions: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
    }()

    @Test(
        "every session runs as written", arguments: sessions.filter { TestRun.isWanted($0, in: "LOCALDATA_SESSIONS") })
    func session(_ name: String) throws {
        try play(String(contentsOfFile: "\(Self.folder)/\(name).txt", encoding: .utf8), name)
    }

    private func play(_ text: String, _ name: String) throws {
        let script = try SessionScript(text)
        try #require(!script.steps.isEmpty)
        let home = try Home()
        func shown(_ text: String) -> String {
            text.replacing(home.path, with: "{home}").replacing(BuiltProducts.folder, with: "{bin}")
        }
        for step in script.steps {
            let ending = try home.shell(step.command)
            let (output, errors) = (shown(ending.text), shown(ending.errors))
            let isExpected =
                try ending.status == step.status && SessionScript.Pattern.match(output, step.output)
                && SessionScript.Pattern.match(errors, step.errors)
            if !isExpected {
                let wrote = errors.split(separator: "\n").map { "! \($0)\n" }.joined()
                Issue.record("\(name):\(step.line): $ \(step.command)\n\(output)\(wrote)= \(ending.status)")
            }
        }
    }

    @Test("sessions exist")
    func sessionsAreFound() { #expect(Self.sessions.count >= 10) }

    @Test(
        "a session fails on any line that differs, is missing or is extra",
        arguments: [
            ("a\n", "b"), ("a\n", ""), ("a\nb\n", "a"), ("a", "a"), ("a\n", ". a"), ("a\n", "a\na"), ("ab\n", "~ a"),
            ("", "a"), ("a\nb\n", "...\na"),
        ])
    func mismatch(_ output: String, _ expected: String) throws {
        let script = try SessionScript("$ true\n\(expected)\n")
        #expect(try !SessionScript.Pattern.match(output, script.steps[0].output))
    }

    @Test(
        "a session accepts lines, expressions and gaps",
        arguments: [
            ("a\n", "a"), ("", ""), ("a", ". a"), ("a1\n", "~ a[0-9]"), ("a\nb\nc\n", "a\n...\nc"),
            ("a\n", "...\na\n..."),
            ("\n", "~ "), ("a\n\nb\n", "a\n~ \nb"),
        ])
    func match(_ output: String, _ expected: String) throws {
        let script = try SessionScript("$ true\n\(expected)\n")
        #expect(try SessionScript.Pattern.match(output, script.steps[0].output))
    }
}

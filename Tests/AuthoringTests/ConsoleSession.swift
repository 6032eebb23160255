import FoundationEssentials
import LocalDataHost
import Testing

/// A session as documentation shows it: commands after `$ `, and their expected output.
///
/// `! ` marks a line of standard error, `= ` an exit status that is not 0. `...` on its own matches any lines of both,
/// or after `! ` any lines of standard error; within a line it matches any characters. The commands of a session run in
/// one shell.
struct ConsoleSession {
    struct Step {
        var command: String
        var output: [String] = []
        var errors: [String] = []
        var status: Int32 = 0
    }

    /// The output of a command, and how it ended.
    struct Outcome {
        let output: String
        let errors: String
        let status: Int32
    }

    private(set) var steps: [Step] = []

    /// Extracts the sessions from an article, in order.
    init(article: some StringProtocol) {
        for block in Article.blocks(of: "console", in: article) {
            for line in block.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                if line.hasPrefix("$ ") {
                    steps.append(Step(command: String(line.dropFirst(2))))
                } else if let last = steps.indices.last {
                    if line.hasPrefix("! ") {
                        steps[last].errors.append(String(line.dropFirst(2)))
                    } else if line.hasPrefix("= ") {
                        steps[last].status = Int32(line.dropFirst(2)) ?? -1
                    } else {
                        steps[last].output.append(String(line))
                        if line == "..." { steps[last].errors.append("...") }
                    }
                }
            }
        }
    }

    mutating func insert(_ command: String, before index: Int) {
        steps.insert(Step(command: command), at: index)
    }

    /// Runs the commands in a folder and compares their output.
    ///
    /// - Parameter places: The paths that placeholders in the session stand for, e.g. `{home}`.
    func run(in workspace: Workspace, places: [String: String]) throws {
        func filled(_ text: String) -> String {
            places.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }
        var script = ""
        for (index, step) in steps.enumerated() {
            let name = "\(workspace.path)/step-\(index)"
            script += "{ \(filled(step.command))\n} >\(name).out 2>\(name).err; echo $? >\(name).status\n"
        }
        let shell = try workspace.run("/bin/bash", ["-c", script])
        #expect(shell.status == 0, "\(shell.errors)")
        for (index, step) in steps.enumerated() {
            let outcome = try Outcome(
                output: workspace.text("step-\(index).out"), errors: workspace.text("step-\(index).err"),
                status: Int32(workspace.text("step-\(index).status").dropLast()) ?? -1)
            let shown: Comment = "$ \(step.command)\n\(outcome.output)\(outcome.errors)= \(outcome.status)"
            #expect(outcome.status == step.status, shown)
            #expect(Self.matches(outcome.output, step.output.map(filled)), shown)
            #expect(Self.matches(outcome.errors, step.errors.map(filled)), shown)
        }
    }

    private static func matches(_ text: String, _ expected: [String]) -> Bool {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return matches(lines[...], expected[...])
    }

    private static func matches(_ lines: ArraySlice<Substring>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        let rest = expected.dropFirst()
        if first == "..." {
            if rest.isEmpty { return true }
            return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], rest) }
        }
        guard let line = lines.first else { return false }
        return matches(line, pattern: first) && matches(lines.dropFirst(), rest)
    }

    private static func matches(_ line: Substring, pattern: String) -> Bool {
        let parts = pattern.split(separator: "...", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return line == pattern }
        guard line.hasPrefix(first), line.hasSuffix(last), line.count >= first.count + last.count else { return false }
        var middle = line.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = middle.firstRange(of: part) else { return false }
            middle = middle[range.upperBound...]
        }
        return true
    }
}

/// A session as a guide shows it: the text typed after `$ `, and everything that appears below it.
///
/// `...` on its own matches any lines, within a line any characters. A command must fail exactly if the session shows
/// an error of `ld-host`.
struct TerminalSession {
    private(set) var steps: [SessionScript.Step] = []

    init(_ text: String) {
        for (index, line) in text.split(separator: "\n").enumerated() {
            if line.hasPrefix("$ ") {
                steps.append(SessionScript.Step(line: index + 1, command: "{ \(line.dropFirst(2))\n} 2>&1"))
            } else if let last = steps.indices.last {
                steps[last].output.append(Self.pattern(String(line)))
                if line.hasPrefix("ld-host: error: ") { steps[last].status = 2 }
            }
        }
    }

    private static func pattern(_ line: String) -> SessionScript.Pattern {
        if line == "..." { return .anyLines }
        let parts = line.split(separator: "...", omittingEmptySubsequences: false)
        if parts.count == 1 { return .exactly(line) }
        return .expression(parts.map(escaped).joined(separator: ".*"))
    }

    private static func escaped(_ text: Substring) -> String {
        text.reduce(into: "") { $0 += $1.isLetter || $1.isNumber ? String($1) : "\\\($1)" }
    }

    /// Runs the session in a home, in which `/home/ann` is the home folder.
    ///
    /// - Returns: Each step that went differently, with the actual output.
    func play(in home: Home) throws -> [String] {
        try steps.compactMap { step in
            let ending = try home.shell(step.command)
            let written = ending.text.replacing("\(home.path)/config", with: "/home/ann/.config")
                .replacing(home.path, with: "/home/ann")
            // A terminal also shows a last line without a line end as a line.
            let shown = written.isEmpty || written.hasSuffix("\n") ? written : "\(written)\n"
            let failed = ending.status != 0
            if failed == (step.status != 0), try SessionScript.Pattern.match(shown, step.output) { return nil }
            return "\(step.command)\n\(shown)status \(ending.status)"
        }
    }
}

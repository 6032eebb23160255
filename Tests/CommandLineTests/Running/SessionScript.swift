/// A session as a text: commands with their expected output. The folder `Sessions` has the rules.
struct SessionScript {
    /// The expected form of a line of output.
    enum Pattern: Equatable {
        case exactly(String)
        /// The last line, without a line end.
        case unfinished(String)
        case expression(String)
        case anyLines
    }

    /// A command and its expected results.
    struct Step {
        let line: Int
        var command: String
        var output: [Pattern] = []
        var errors: [Pattern] = []
        var status: Int32 = 0
    }

    /// A line that has no meaning.
    struct Fault: Error, CustomStringConvertible {
        let line: Int
        let description: String
    }

    private(set) var steps: [Step] = []

    init(_ text: String) throws(Fault) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            try take(String(line), number: index + 1)
        }
    }

    private mutating func take(_ line: String, number: Int) throws(Fault) {
        if line.isEmpty || line == "#" || line.hasPrefix("# ") { return }
        if line.hasPrefix("$ ") {
            steps.append(Step(line: number, command: String(line.dropFirst(2))))
            return
        }
        guard let last = steps.indices.last else {
            throw Fault(line: number, description: "line \(number) stands before the first command")
        }
        let rest = String(line.dropFirst(2))
        switch line.prefix(2) {
        case "> ": steps[last].command += "\n\(rest)"
        case "! ": steps[last].errors.append(.exactly(rest))
        case "!~": steps[last].errors.append(.expression(String(rest.dropFirst())))
        case "~ ": steps[last].output.append(.expression(rest))
        case ". ": steps[last].output.append(.unfinished(rest))
        case "= ":
            guard let status = Int32(rest) else {
                throw Fault(line: number, description: "line \(number): '\(rest)' is no exit status")
            }
            steps[last].status = status
        default: steps[last].output.append(line == "..." ? .anyLines : .exactly(line))
        }
    }
}

internal import ConformanceKit
internal import LocalDataAPI
internal import LocalDataHost

/// A command line, taken apart.
struct Invocation {
    let command: Command
    let arguments: Arguments

    init(_ words: [String]) throws {
        // Options that every command takes may stand before it.
        var leading: [String] = []
        var rest = ArraySlice(words)
        while let word = rest.first, word.hasPrefix("-"), word != "--" {
            leading.append(rest.removeFirst())
            if ["--version", "-V"].contains(word) { rest = ["version"] }
            if ["--config", "--app", "-c"].contains(word), let value = rest.popFirst() { leading.append(value) }
        }
        leading.removeAll { ["--version", "-V"].contains($0) }
        guard let first = rest.popFirst() else {
            guard try Arguments(leading, options: Command.common).has("--help") else {
                throw UsageError("no command was given")
            }
            self.command = .help
            arguments = try Arguments([], options: Command.common)
            return
        }
        var found = Command.all.first { $0.name == first }
        var name = first
        for (index, word) in rest.prefix(2).enumerated() {
            name += " \(word)"
            guard let command = Command.all.first(where: { $0.name == name }) else { continue }
            found = command
            rest.removeFirst(index + 1)
            break
        }
        guard let command = found else {
            let words = [first] + rest.prefix { !$0.hasPrefix("-") }
            let group = (1...words.count).reversed().map { words[..<$0].joined(separator: " ") }
                .first { name in Command.all.contains { $0.name.hasPrefix("\(name) ") } }
            let asksForHelp = (leading + rest.prefix { $0 != "--" }).contains { ["--help", "-h"].contains($0) }
            guard let group, asksForHelp else { throw Self.unknown(words, in: group) }
            self.command = .help
            arguments = try Arguments(group.split(separator: " ").map(String.init), options: [])
            return
        }
        let arguments = try Arguments(leading + rest, options: command.options + Command.common)
        if arguments.has("--help") {
            self.command = .help
            self.arguments = try Arguments([command.name], options: [])
            return
        }
        guard command.count.contains(arguments.operands.count) else {
            // What is too many is not repeated: it may be part of a value.
            throw UsageError(
                arguments.operands.count < command.count.lowerBound
                    ? "'\(command.name)' needs \(command.operands)"
                    : "'\(command.name)' takes \(command.operands.isEmpty ? "no arguments" : command.operands); "
                        + "found \(arguments.operands.count.counted("argument"))",
                hint: "run: ld-host help \(command.name)")
        }
        self.command = command
        self.arguments = arguments
    }

    /// - Parameter group: The most of the words that several commands begin with.
    private static func unknown(_ words: [String], in group: String?) -> UsageError {
        if let group {
            let members = Command.all.map(\.name).filter { $0.hasPrefix("\(group) ") }
            let known = group.split(separator: " ").count
            return UsageError(
                words.count > known ? "'\(group)' has no command '\(words[known])'" : "'\(group)' needs a command",
                hint: "use\(members.count > 1 ? " one of" : ""): \(members.joined(separator: ", "))")
        }
        return UsageError("there is no command '\(words[0])'", hint: CommandGuess(words).hint)
    }
}

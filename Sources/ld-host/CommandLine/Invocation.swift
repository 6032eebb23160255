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
            if word == "--version" { rest = ["version"] }
            if ["--config", "-c"].contains(word), let value = rest.popFirst() { leading.append(value) }
        }
        leading.removeAll { $0 == "--version" }
        guard let first = rest.popFirst() else {
            guard leading.contains(where: { ["--help", "-h"].contains($0) }) else {
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
        guard let command = found else { throw Self.unknown(first, rest.first) }
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
                        + "found \(arguments.operands.count) arguments",
                hint: "run: ld-host help \(command.name)")
        }
        self.command = command
        self.arguments = arguments
    }

    private static func unknown(_ first: String, _ second: String?) -> UsageError {
        let group = Command.all.filter { $0.name.hasPrefix("\(first) ") }.map(\.name)
        if !group.isEmpty {
            return UsageError(
                second.map { "'\(first)' has no command '\($0)'" } ?? "'\(first)' needs a command",
                hint: "there are: \(group.joined(separator: ", "))")
        }
        let near = EditDistance.nearest(to: first, in: Command.all.map(\.name), within: 2)
        return UsageError(
            "there is no command '\(first)'", hint: near.map { "did you mean '\($0)'?" } ?? "run: ld-host help")
    }
}

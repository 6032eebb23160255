internal import LocalDataHost

extension Command {
    static let version = Command(name: "version", summary: "print the version", options: [json]) { _, session in
        if session.json {
            try Output.json(["version": HostVersion.current, "abi": HostVersion.abi])
        } else {
            Output.line("ld-host \(HostVersion.current) (plugin ABI \(HostVersion.abi))")
        }
        return .done
    }

    static let help = Command(
        name: "help", operands: "[COMMAND]", count: 0...3, summary: "show help"
    ) { arguments, _ in
        guard !arguments.operands.isEmpty else {
            Output.line("usage: ld-host COMMAND [ARGUMENTS]\n")
            for group in Command.groups {
                Output.line("\(group.task):")
                list(group.commands)
                Output.line("")
            }
            paragraph(
                """
                An ADDRESS is domain[:scope]/name: userDefaults/theme, keychain:com.example/token, \
                fileSystem:documents/profile. The exit status is 0 for success, 1 if nothing is stored, 2 for a \
                failure or if something needs attention, and 64 for an invalid command line. ld-host help COMMAND \
                explains a command.
                """)
            Output.line("\nOptions of every command:")
            print(Command.common)
            return .done
        }
        let name = arguments.operands.joined(separator: " ")
        let commands = Command.all.filter { $0.name == name || $0.name.hasPrefix("\(name) ") }
        guard !commands.isEmpty else { throw UsageError("there is no command '\(name)'") }
        if commands.count > 1, !commands.contains(where: { $0.name == name }) {
            Output.line("usage: ld-host \(name) COMMAND [ARGUMENTS]\n")
            list(commands)
            Output.line("\nld-host help \(commands[0].name) explains one of them.")
            return .done
        }
        for (index, command) in commands.enumerated() {
            if index > 0 { Output.line("") }
            let operands = command.operands.isEmpty ? "" : " \(command.operands)"
            Output.line("usage: ld-host \(command.name)\(command.options.isEmpty ? "" : " [OPTIONS]")\(operands)\n")
            paragraph("\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).")
            paragraphs(command.details)
            if !command.options.isEmpty { Output.line("") }
            print(command.options)
        }
        return .done
    }

    private static func list(_ commands: [Command]) {
        var table = Table()
        for command in commands { table.add("  \(command.name) \(command.operands)", command.summary) }
        table.print(width: Wrapping.help)
    }

    private static func paragraph(_ text: String) {
        for line in Wrapping.lines(text, width: Wrapping.help) { Output.line(line) }
    }

    /// Lines that belong together are wrapped as one paragraph; one that is indented stands by itself.
    private static func paragraphs(_ text: String) {
        var open: [Substring] = []
        for line in text.split(separator: "\n") {
            if line.first == " " {
                if !open.isEmpty { paragraph(open.joined(separator: " ")) }
                open = []
                Output.line(String(line))
            } else {
                open.append(line)
            }
        }
        if !open.isEmpty { paragraph(open.joined(separator: " ")) }
    }

    private static func print(_ options: [Option]) {
        var table = Table()
        for option in options {
            let names = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
            table.add("  \(names)\(option.value.map { " \($0)" } ?? "")", option.help)
        }
        table.print(width: Wrapping.help)
    }
}

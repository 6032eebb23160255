internal import LocalDataHost

/// A page of the manual, in the language of man(7), made from the table of commands.
struct ManualPage {
    /// The pages: one of the program, and one for each group of commands.
    static let names = ["ld-host"] + Command.groups.map { "ld-host-\($0.page)" }

    let name: String

    /// The page's text.
    var text: String {
        let group = Command.groups.first { "ld-host-\($0.page)" == name }
        let body = group.map(commands) ?? overview
        let title = Self.escaped(name.uppercased())
        return #".TH "\#(title)" "1" "" "LocalData \#(HostVersion.current)" "LocalData""# + "\n" + body
    }

    private var overview: String {
        var text = """
            .SH NAME
            ld\\-host \\- typed keys in stores that are plugins: the command line of LocalData
            .SH SYNOPSIS
            .B ld\\-host
            .I COMMAND
            .RI [ ARGUMENTS ]
            .SH DESCRIPTION

            """
        text += Self.lines(
            "Reads and writes values by their addresses, and manages the stores, crypto providers and migration packs that "
                + "the configuration names. An address is domain[:scope]/name, such as userDefaults:settings/theme, which is of "
                + "the app settings, or keychain:com.example/token. Without a scope, the values of the app that --app "
                + "names are meant, or else those that belong to no app.")
        text += ".SH COMMANDS\n"
        for group in Command.groups {
            text += ".SS \(Self.escaped(group.task))\nSee\n.BR \(Self.escaped("ld-host-\(group.page)")) (1).\n"
            for command in group.commands { text += Self.item(command.usage, command.summary) }
        }
        text += ".SH OPTIONS\nEvery command takes these.\n" + Command.common.map(Self.item).joined()
        text += ".SH EXIT STATUS\n"
        for (status, meaning) in [
            ("0", "Success."), ("1", "Nothing is stored there."),
            ("2", "Failure; standard error has the reason."),
            ("64", "The command line is invalid."),
        ] { text += Self.item(status, meaning) }
        text += ".SH ENVIRONMENT\n"
        for (name, meaning) in [
            ("LOCALDATA_CONFIG", "A configuration file that overrides the others. It must exist."),
            ("LOCALDATA_APP", "The app whose data is meant, as with --app. Apps do not read it."),
            ("LOCALDATA_PLUGIN_PATH", "Folders and files of plugins, divided by colons."),
            ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME", "Where the folders are."),
        ] { text += Self.item(name, meaning) }
        text += ".SH FILES\n"
        for (path, meaning) in [
            ("/etc/localdata/config.json", "The configuration of the machine."),
            ("~/.config/localdata/config.json", "The configuration of the user, JSON with comments."),
            ("~/.config/localdata/keys", "The keys of sealed stores. Keep a copy apart from that of the data."),
            ("~/.local/share/localdata", "The data."),
        ] { text += Self.item(path, meaning) }
        let others = Self.names.dropFirst().map { ".BR \(Self.escaped($0)) (1)" }
        return text + ".SH SEE ALSO\n" + others.joined(separator: ",\n") + "\n"
    }

    private func commands(of group: Command.Group) -> String {
        let names = group.commands.map(\.name).joined(separator: ", ")
        var text =
            ".SH NAME\n\(Self.escaped(name)) \\- \(Self.escaped(group.task.lowercasedStart)): \(Self.escaped(names))\n"
        text += ".SH SYNOPSIS\n"
        text += group.commands.map { command in
            let rest = (command.options.isEmpty ? "" : "[OPTIONS] ") + command.operands
            let operands = rest.isEmpty ? "" : ".RI \(Self.quoted(rest))\n"
            return ".B ld\\-host \(Self.escaped(command.name))\n\(operands)"
        }.joined(separator: ".br\n")
        text += ".SH COMMANDS\n"
        for command in group.commands {
            text += ".SS \(Self.quoted("ld-host \(command.usage)"))\n"
            text += Self.lines("\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).")
            if !command.details.isEmpty { text += ".PP\n" + Self.paragraphs(command.details) }
            text += command.options.map(Self.item).joined()
        }
        return text + ".SH SEE ALSO\n.BR ld\\-host (1)\n"
    }

    private static func item(_ option: Command.Option) -> String {
        let names = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
        return item(names + (option.value.map { " \($0)" } ?? ""), option.help)
    }

    private static func item(_ term: String, _ text: String) -> String {
        ".TP\n.B \(escaped(term))\n" + lines(text)
    }

    /// An indented line is an example of its own.
    private static func paragraphs(_ text: String) -> String {
        var (page, isExample) = ("", false)
        for line in text.split(separator: "\n") {
            let isIndented = line.first == " "
            if isIndented != isExample { page += isIndented ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n.PP\n" }
            isExample = isIndented
            page += lines(String(line.drop { $0 == " " }))
        }
        return page + (isExample ? ".RE\n.fi\n" : "")
    }

    private static func lines(_ text: String) -> String { escaped(text) + "\n" }

    private static func quoted(_ text: String) -> String { "\"\(escaped(text).replacing("\"", with: "\\(dq"))\"" }

    /// Text that is shown as it is: a hyphen can be copied, and nothing is a request.
    private static func escaped(_ text: String) -> String {
        let shown = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return shown.hasPrefix(".") || shown.hasPrefix("'") ? "\\&\(shown)" : shown
    }
}

extension Command {
    /// The name with its operands.
    fileprivate var usage: String { operands.isEmpty ? name : "\(name) \(operands)" }
}

extension String {
    fileprivate var lowercasedStart: String { prefix(1).lowercased() + dropFirst() }
}

internal import LocalDataHost

/// A page of the manual, in the language of man(7), made from the tables of commands and of settings.
struct ManualPage {
    /// The page of all settings, which is in section 5 and named as its file is.
    static let settings = "ld-host-config.5"

    /// The pages: one of the program, one for each group of commands, and one of the settings.
    static let names = ["ld-host"] + Command.groups.map { "ld-host-\($0.page)" } + [settings]

    let name: String

    /// The page's text.
    var text: String {
        let isSettings = name == Self.settings
        let group = Command.groups.first { "ld-host-\($0.page)" == name }
        let body = isSettings ? settingsPage : group.map(commands) ?? overview
        let title = Self.escaped((isSettings ? String(name.dropLast(2)) : name).uppercased())
        let section = isSettings ? "5" : "1"
        return #".TH "\#(title)" "\#(section)" "" "LocalData \#(HostVersion.current)" "LocalData""# + "\n" + body
    }

    private var settingsPage: String {
        var text = """
            .SH NAME
            ld\\-host\\-config \\- the settings of LocalData
            .SH DESCRIPTION

            """
        text += Self.lines(
            "A file of settings is JSON with comments: an object whose members are the parts of a setting's name, so "
                + "that domains.userDefaults is {domains: {userDefaults: \"file\"}}. Names in <> are yours to choose, or "
                + "those of domains. These are read in this order, and a later one overrides an earlier one: the "
                + "built-in defaults, /etc/localdata/config.json, ~/.config/localdata/config.json, the file that "
                + "LOCALDATA_CONFIG names, the options --config, -c and --app of ld-host, and the app's code.")
        text += ".SH SETTINGS\n"
        for rule in ConfigurationSchema.host.rules where rule.kind != .object {
            let path = rule.pattern.joined(separator: ".")
            let value = rule.defaultValue.flatMap { $0 == .null ? nil : try? $0.serialized() }
            let rest = rule.isRequired ? " Required." : value.map { " By default \($0)." } ?? ""
            text += Self.item(path, "\(rule.help.capitalizedStart). \(rule.kind.expected.capitalizedStart).\(rest)")
        }
        text += ".SH FILES\n" + Self.item("~/.config/localdata/config.json", "The settings of the user.")
        text += Self.item("/etc/localdata/config.json", "The settings of the machine.")
        return text + Self.examples(of: Self.settings) + ".SH SEE ALSO\n.BR ld\\-host\\-config (1)\n"
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
            (
                "LOCALDATA_PROGRESS_DELAY",
                "The seconds after which a command shows on standard error how far it is, or which process it waits "
                    + "for. By default a second for that; half a second in a terminal and three elsewhere for how far."
            ),
            ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME", "Where the folders are."),
        ] { text += Self.item(name, meaning) }
        text += ".SH FILES\n"
        for (path, meaning) in [
            ("/etc/localdata/config.json", "The configuration of the machine."),
            ("~/.config/localdata/config.json", "The configuration of the user, JSON with comments."),
            ("~/.config/localdata/keys", "The keys of sealed stores. Keep a copy apart from that of the data."),
            ("~/.local/share/localdata", "The data."),
        ] { text += Self.item(path, meaning) }
        var others = Command.groups.map { ".BR \(Self.escaped("ld-host-\($0.page)")) (1)" }
        others.append(".BR ld\\-host\\-config (5)")
        return text + Self.examples(of: name) + ".SH SEE ALSO\n" + others.joined(separator: ",\n") + "\n"
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
        return text + Self.examples(of: group.page) + ".SH SEE ALSO\n.BR ld\\-host (1)\n"
    }

    private static func examples(of page: String) -> String {
        ".SH EXAMPLES\n"
            + (ManualExample.all[page] ?? []).map { example in
                lines(example.task) + ".PP\n.nf\n.RS 4\n" + raw(example.lines) + ".RE\n.fi\n"
            }.joined(separator: ".PP\n")
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

    private static func raw(_ text: String) -> String {
        text.split(separator: "\n").map { lines(String($0)) }.joined()
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

    fileprivate var capitalizedStart: String { prefix(1).uppercased() + dropFirst() }
}

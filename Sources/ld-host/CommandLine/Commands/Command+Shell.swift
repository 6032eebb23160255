internal import LocalDataHost

extension Command {
    static let completions = Command(
        name: "completions", operands: "SHELL", count: 1...1,
        summary: "print a script that completes ld-host in a shell",
        details: """
            SHELL is bash, zsh or fish. The script completes commands, options, settings, stores, components and keys.
            An installed package has it already. In bash, for this session:
              source <(ld-host completions bash)
            For every session, write it to a file: for bash
            ~/.local/share/bash-completion/completions/ld-host, for zsh a file _ld-host in a folder of $fpath, for fish
            ~/.config/fish/completions/ld-host.fish.
            """
    ) { arguments, _ in
        let name = arguments.operands[0]
        guard let script = CompletionScript(rawValue: name) else {
            throw UsageError("there is no completion for '\(name)'", hint: "use bash, zsh or fish")
        }
        Output.line(script.text)
        return .done
    }

    static let man = Command(
        name: "man", operands: "[PAGE]", count: 0...1, summary: "print a page of the manual for man",
        details: """
            Prints the page ld-host or PAGE in the form that man(1) reads. An installed package has the pages already:
            man ld-host. Without one:
              ld-host man | man -l -
            """,
        options: [Option(name: "--list", help: "print the names of the pages")]
    ) { arguments, _ in
        if arguments.has("--list") {
            for name in ManualPage.names { Output.line(name) }
            return .done
        }
        let name = arguments.operands.first ?? "ld-host"
        guard ManualPage.names.contains(name) else {
            throw UsageError("there is no page '\(name)'", hint: "see them with: ld-host man --list")
        }
        Output.line(ManualPage(name: name).text)
        return .done
    }
}

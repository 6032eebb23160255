import FoundationEssentials
import TestSupport
import Testing

@Suite("Completion of ld-host")
struct CompletionTests {
    /// A home with values, an additional store and a migration.
    private func home() throws -> Home {
        let home = try Home()
        for address in ["userDefaults/theme", "userDefaults:suite/other", "userDefaults/with space"] {
            try home.done("set", address, "x")
        }
        try home.done("set", "keychain:com.example/token", "--stdin", input: Array("secret".utf8))
        try home.done(
            "config", "set", "stores.archive", "{\"component\": \"file\", \"options\": {\"root\": \"/tmp/a\"}}")
        return home
    }

    /// The offered words, without their descriptions.
    private func offered(_ home: Home, _ words: String...) throws -> [Substring] {
        let end = try home.run(BuiltProducts.host, ["__complete"] + words)
        #expect(end.status == 0 && end.errors.isEmpty)
        return end.text.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
    }

    @Test("knows commands, options, settings, values of settings, stores, components, domains and keys")
    func knows() throws {
        let home = try home()
        #expect(try offered(home, "config", "") == ["edit", "get", "path", "set", "show", "unset", "validate"])
        #expect(try offered(home, "migrate", "ledger", "") == ["repair"])
        #expect(try offered(home, "get", "--j") == ["--json"])
        #expect(try offered(home, "set", "--st") == ["--stdin"])
        #expect(try offered(home, "get", "userDefaults") == ["userDefaults/", "userDefaults:suite/"])
        #expect(try offered(home, "get", "userDefaults/th") == ["userDefaults/theme"])
        #expect(try offered(home, "rm", "userDefaults/theme", "keychain:c") == ["keychain:com.example/"])
        #expect(try offered(home, "get", "keychain:com.example/") == ["keychain:com.example/token"])
        #expect(try offered(home, "config", "get", "log.") == ["log.level"])
        #expect(try offered(home, "config", "set", "log.level", "d") == ["debug"])
        #expect(try offered(home, "-c", "log.level=w") == ["log.level=warning"])
        #expect(try offered(home, "config", "unset", "stores.archive.co").contains("stores.archive.component"))
        #expect(try offered(home, "config", "set", "domains.userDefaults", "a") == ["archive"])
        #expect(try offered(home, "config", "set", "encryption.provider", "") == ["openssl", "sodium"])
        #expect(try offered(home, "store", "copy", "sqlite", "a") == ["archive"])
        #expect(try offered(home, "store", "copy", "a", "b", "--domain", "key") == ["keychain"])
        #expect(try offered(home, "-c", "domains.mine=memory", "export", "min") == ["mine", "mine/"])
        #expect(try offered(home, "plugins", "inspect", "sq") == [":files", "sqlite"])
        #expect(try offered(home, "import", "file").contains(":files"))
        #expect(try offered(home, "help", "migrate", "ro") == ["rollback"])
        #expect(try offered(home, "completions", "") == ["bash", "fish", "zsh"])
    }

    @Test("offers the keys that a command can be about, of the ring that is meant")
    func keys() throws {
        let home = try home()
        func create(_ words: String...) throws -> Substring {
            let created = try home.run(BuiltProducts.host, ["keys", "create"] + words)
            return try #require(created.text.split(separator: "\n").first)
        }
        // The first one is active.
        let (active, other) = (try create(), try create())
        #expect(try offered(home, "keys", "rotate", String(other.prefix(4))) == [other])
        #expect(try offered(home, "keys", "disable", "") == [other])
        #expect(try offered(home, "keys", "enable", "").isEmpty)
        try home.done("keys", "disable", String(other))
        #expect(try offered(home, "keys", "enable", "") == [other])
        try home.done("keys", "enable", String(other))
        try home.done("keys", "rotate", String(other))
        #expect(try offered(home, "keys", "retire", "") == [active])
        let sealed = try create("--store", "sealed-files")
        #expect(try offered(home, "keys", "disable", "--store", "sealed-files", "") == [sealed])
        #expect(try offered(home, "keys", "disable", "--store=sealed-files", "") == [sealed])
    }

    @Test("describes groups of commands, and offers stores that have served a domain")
    func groups() throws {
        let home = try home()
        let lines = try home.run(BuiltProducts.host, ["__complete", ""]).text.split(separator: "\n")
        #expect(lines.contains("keys\tmanage encryption keys") && lines.contains("sync\tsync devices"), "\(lines)")
        #expect(lines.allSatisfy { $0.contains("\t") }, "\(lines)")
        #expect(try !offered(home, "store", "copy", "f", "sq").isEmpty)
        try home.done("config", "set", "domains.userDefaults", "file")
        #expect(try offered(home, "store", "copy", "sq") == ["sqlite"])
        #expect(try offered(home, "store", "forget", "sq") == ["sqlite"])
    }

    @Test("offers nothing, without an error, for unknown commands and unreadable stores")
    func knowsNothing() throws {
        let home = try home()
        for words in [["nothing", ""], ["get", "nowhere/"], ["get", "userDefaults/\u{1}"], ["-c", "x", "get", "y"]] {
            let end = try home.run(BuiltProducts.host, ["__complete"] + words)
            #expect(end.status == 0 && end.text.isEmpty && end.errors.isEmpty, "\(words)")
        }
        #expect(try home.run(BuiltProducts.host, ["__complete"]).status == 0)
        try Data("{ broken".utf8).write(to: URL(filePath: "\(home.path)/config/localdata/config.json"))
        #expect(try offered(home, "conf") == ["config"])
        #expect(try offered(home, "get", "userDefaults/").isEmpty)
    }

    @Test("works in an interactive bash, which breaks words at colons and equals signs")
    func bash() throws {
        let home = try home()
        let terminal = try PseudoTerminal(home, program: "/bin/bash", ["--norc", "--noprofile", "-i"])
        terminal.type("PS1=; source <(ld-host completions bash); echo re''ady\n")
        try terminal.wait(for: "ready")
        for (typed, shown) in [
            ("ld-host conf\tg\t", "ld-host config get "),
            ("ld-host get userDefaults/th\t", "ld-host get userDefaults/theme "),
            ("ld-host get keychain:com\tt\t", "ld-host get keychain:com.example/token "),
            ("ld-host -c log.lev\ter\t", "ld-host -c log.level=error "),
            ("ld-host import $HOME/conf\t", "localdata"),
        ] {
            terminal.type("\(typed)\u{5}#\n")
            if shown.hasPrefix("ld-host") { try terminal.wait(for: "\(shown)#") }
        }
        terminal.type("exit\n")
        _ = terminal.end()
    }

    @Test(
        "inserts names so that bash does not run what they contain",
        arguments: ["a;touch ran", "a$(touch ran)", "a b", "a'b\"c", "a&touch ran", "a`touch ran`"])
    func quoting(_ name: String) throws {
        let home = try Home()
        try home.done("set", "userDefaults/\(name)", "found it")
        let terminal = try PseudoTerminal(home, program: "/bin/bash", ["--norc", "--noprofile", "-i"])
        terminal.type("PS1=; cd; source <(ld-host completions bash); echo re''ady\n")
        try terminal.wait(for: "ready")
        terminal.type("ld-host get userDefaults/a\t\n")
        try terminal.wait(for: "found it")
        terminal.type("exit\n")
        _ = terminal.end()
        #expect(try home.shell("find / -maxdepth 1 -name ran; find . -name ran").text == "")
    }

    @Test("works in zsh and fish")
    func otherShells() throws {
        let home = try home()
        let fish = "ld-host completions fish | source; complete -C"
        #expect(try home.run("/usr/bin/fish", ["-c", "\(fish) 'ld-host config g'"]).text == "get\tprint one setting\n")
        let keys = try home.run("/usr/bin/fish", ["-c", "\(fish) 'ld-host get keychain:com.example/'"])
        #expect(keys.text == "keychain:com.example/token\n")

        let terminal = try PseudoTerminal(home, program: "/usr/bin/zsh", ["-f", "-i"], adding: ["TERM": "dumb"])
        terminal.type("PS1=; autoload -U compinit; compinit -u -D; source <(ld-host completions zsh); echo re''ady\n")
        try terminal.wait(for: "ready")
        terminal.type("ld-host get keychain:com.example/t\t\n")
        try terminal.wait(for: "secret")
        terminal.type("exit\n")
        _ = terminal.end()
    }
}

extension String {
    var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}

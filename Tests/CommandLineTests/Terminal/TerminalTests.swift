import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("ld-host at a terminal")
struct TerminalTests {
    private static let addresses = ["userDefaults/k", "keychain:tests/k"]

    private func isSecret(_ address: String) -> Bool { address.hasPrefix("keychain") }

    /// A terminal with a prompt for a value.
    private func asking(_ home: Home, for address: String) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(home, "set", address)
        try terminal.wait(for: "value for \(address): ")
        #expect(terminal.echoes != isSecret(address))
        return terminal
    }

    @Test("prompts for a value, and hides the input if it is a secret", arguments: addresses)
    func prompt(_ address: String) throws {
        let home = try Home()
        let terminal = try asking(home, for: address)
        terminal.type("hunter2 \u{fc}\n")
        #expect(terminal.end() == 0)
        #expect(terminal.text == "value for \(address): \(isSecret(address) ? "" : "hunter2 \u{fc}")\r\n")
        #expect(terminal.echoes)
        #expect(try home.done("get", address).text == "hunter2 \u{fc}")
    }

    @Test(
        "Ctrl-C at the prompt ends the program, stores nothing and leaves a terminal that shows typed text",
        arguments: addresses)
    func interrupt(_ address: String) throws {
        let home = try Home()
        try home.done("set", address, "--stdin", input: Array("old".utf8))
        let terminal = try asking(home, for: address)
        terminal.type("part\u{3}")
        #expect(terminal.end() == 128 + SIGINT)
        #expect(terminal.echoes)
        #expect(try home.done("get", address).text == "old")
    }

    @Test("prompts on a line of its own, also while a bar shows how far a command is")
    func promptBesideBar() throws {
        let home = try Home()
        let values = (0..<5000).map { "\"k\($0)\": \"\(String(repeating: "v", count: 50))\"" }
        try home.done("import", "userDefaults", "-", input: Array("{\(values.joined(separator: ", "))}".utf8))
        try home.done(
            "config", "set", "stores.vault",
            "{\"component\": \"sqlite\", \"options\": {\"path\": \"\(home.path)/vault\"}, "
                + "\"sealing\": {\"source\": \"passphrase\"}}")
        let terminal = try PseudoTerminal(home, "store", "copy", "sqlite", "vault", "--domain", "userDefaults")
        for prompt in ["new passphrase of store 'vault': ", "repeat it: "] {
            try terminal.wait(for: prompt)
            terminal.type("correct horse\n")
        }
        #expect(terminal.end() == 0, "\(terminal.text)")
        // The bar is gone before a prompt comes.
        let prompt = try #require(terminal.text.firstRange(of: "new passphrase"))
        let before = terminal.text[..<prompt.lowerBound]
        #expect(before.isEmpty || before.hasSuffix("\r"), "\(before.suffix(100))")
    }

    @Test("init asks three questions, and again if an answer makes no sense")
    func questions() throws {
        let home = try Home()
        try home.done("set", "keychain:tests/k", "--stdin", input: Array("old".utf8))
        let terminal = try PseudoTerminal(home, "init")
        terminal.type("7\n3\n2\nx\n2\n")
        #expect(terminal.end() == 0)
        for text in ["domain keychain, be kept?", "'7' is not one of the choices", "'x' is not one of", "config.json"] {
            #expect(terminal.text.contains(text), "\(terminal.text)")
        }
        #expect(try home.done("config", "get", "domains.keychain").text == "secret-service\n")
        #expect(try home.done("config", "get", "domains.userDefaults").text == "file\n")
        #expect(try home.done("config", "get", "encryption.provider").text == "sodium\n")
        // The values that the keychain held before are not forgotten.
        let doctor = try home.run("doctor")
        #expect(doctor.text.contains("sealed-files"), "\(doctor.text)")

        let again = try PseudoTerminal(home, "init")
        #expect(again.end() == 0 && again.text.contains("already exists"))
    }

    @Test("init asks nothing with --yes, and Enter chooses the first answer")
    func defaults() throws {
        let (first, second) = (try Home(), try Home())
        let silent = try PseudoTerminal(first, "init", "--yes")
        #expect(silent.end() == 0 && !silent.text.contains("?"))
        let asking = try PseudoTerminal(second, "init")
        asking.type("\n\n\n")
        #expect(asking.end() == 0)
        func file(_ home: Home) throws -> String {
            try String(contentsOfFile: "\(home.path)/config/localdata/config.json", encoding: .utf8)
        }
        #expect(try file(first) == file(second))
        let third = try Home()
        let sealing = try PseudoTerminal(third, "init")
        sealing.type("2\n\n\n")
        #expect(sealing.end() == 0)
        #expect(try third.done("config", "get", "stores.sealed-files.sealing.source").text == "passphrase\n")
    }

    @Test("Ctrl-D at the prompt stores no value", arguments: addresses)
    func endOfInput(_ address: String) throws {
        let home = try Home()
        let terminal = try asking(home, for: address)
        terminal.type("\u{4}")
        #expect(terminal.end() == 64)
        #expect(terminal.text.contains("ld-host: error: no value was typed"))
        #expect(try home.run("exists", address).status == 1)
    }

    @Test("Ctrl-D at the prompt for a passphrase stores no value, and no key")
    func endOfPassphrase() throws {
        let home = try Home()
        try home.done(
            "config", "set", "stores.vault",
            #"{"component": "file", "options": {"root": "\#(home.path)/vault"}, "sealing": "passphrase"}"#)
        try home.done("config", "set", "domains.userDefaults", "vault")
        let terminal = try PseudoTerminal(home, "set", "userDefaults/key", "value")
        try terminal.wait(for: "new passphrase of store 'vault': ")
        terminal.type("\u{4}")
        #expect(terminal.end() == 2)
        #expect(terminal.text.contains("ld-host: error: no passphrase of store 'vault' was typed"))
        #expect(try home.shell("find vault -type f | grep -v lock").text == "")
    }

    /// A home with a file of 2,000 values, and an environment in which time passes 2,000 times as fast.
    private func haste() throws -> (home: Home, file: String, variables: [String: String]) {
        let home = try Home()
        let file = "\(home.path)/values.json"
        let values = Dictionary(uniqueKeysWithValues: (1...2000).map { ("k\($0)", $0) })
        try JSONEncoder().encode(values).write(to: URL(filePath: file))
        // Inspecting plugins has a time limit, so do it before time passes so fast.
        try home.done("audit")
        return (home, file, try Haste.great.variables())
    }

    @Test("a long import shows a bar with counts and the time left, and removes it at the end; a short one shows none")
    func bar() throws {
        let (home, file, variables) = try haste()
        let terminal = try PseudoTerminal(home, "import", "encryptedFileSystem", file, adding: variables)
        #expect(terminal.end() == 0)
        let (shown, end) = ("imported 2000 values into encryptedFileSystem:documents\r\n", terminal.text)
        #expect(end.hasSuffix("\r\(shown)"))
        let bars = end.dropLast(shown.count).split(separator: "\r").filter { $0.contains("importing") }
        #expect(!bars.isEmpty && bars.allSatisfy { $0.count < 80 })
        #expect(bars.allSatisfy { $0.contains(/^importing \[[#.]+\] [0-9,]+ of 2,000/) }, "\(bars)")
        let short = try PseudoTerminal(home, "import", "userDefaults/x", "-", adding: Haste.none.variables())
        short.type("{}\n\u{4}")
        #expect(short.end() == 0)
        #expect(!short.text.contains("importing"))
    }

    @Test("without a terminal a line is written every few seconds, and none for a short import")
    func lines() throws {
        let (home, file, variables) = try haste()
        let long = try home.run(
            BuiltProducts.host, ["import", "encryptedFileSystem", file], adding: variables)
        #expect(long.text == "imported 2000 values into encryptedFileSystem:documents\n")
        let lines = long.errors.split(separator: "\n")
        #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("ld-host: importing: ") && $0.contains(" of 2,000") })
        let short = try home.run(BuiltProducts.host, ["import", "userDefaults", file], adding: Haste.none.variables())
        #expect(short.errors == "")
        #expect(short.text == "imported 2000 values into userDefaults\n")
        let patient = variables.merging(["LOCALDATA_PROGRESS_DELAY": "4000000"]) { $1 }
        #expect(try home.run(BuiltProducts.host, ["import", "fileSystem", file], adding: patient).errors == "")
    }

    @Test("a value ends its line on a terminal, and only there", arguments: ["", "text", "line\n"])
    func lineEnd(_ value: String) throws {
        let home = try Home()
        try home.done("set", "userDefaults/k", value)
        let terminal = try PseudoTerminal(home, "get", "userDefaults/k")
        #expect(terminal.end() == 0)
        #expect(terminal.text == (value == "text" ? "text\r\n" : value.replacing("\n", with: "\r\n")))
        #expect(try home.done("get", "userDefaults/k").text == value)
    }
}

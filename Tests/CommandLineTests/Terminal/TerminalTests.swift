import FoundationEssentials
import Glibc
import Testing

@Suite("ld-host at a terminal")
struct TerminalTests {
    private static let prompt = "value for userDefaults/k: "

    @Test("a value is asked for, and what is typed is not shown")
    func prompt() throws {
        let home = try Home()
        let terminal = try PseudoTerminal(home, "set", "userDefaults/k")
        try terminal.wait(for: Self.prompt)
        #expect(!terminal.echoes)
        terminal.type("hunter2 \u{fc}\n")
        #expect(terminal.end() == 0)
        #expect(terminal.text == "\(Self.prompt)\r\n")
        #expect(terminal.echoes)
        #expect(try home.done("get", "userDefaults/k").text == "hunter2 \u{fc}")
    }

    @Test("Ctrl-C at the prompt ends the program, stores nothing and leaves a terminal that shows what is typed")
    func interrupt() throws {
        let home = try Home()
        try home.done("set", "userDefaults/k", "old")
        let terminal = try PseudoTerminal(home, "set", "userDefaults/k")
        try terminal.wait(for: Self.prompt)
        terminal.type("part\u{3}")
        #expect(terminal.end() == 128 + SIGINT)
        #expect(terminal.echoes)
        #expect(try home.done("get", "userDefaults/k").text == "old")
    }

    @Test("Ctrl-D at the prompt is no value")
    func endOfInput() throws {
        let home = try Home()
        let terminal = try PseudoTerminal(home, "set", "userDefaults/k")
        try terminal.wait(for: Self.prompt)
        terminal.type("\u{4}")
        #expect(terminal.end() == 64)
        #expect(terminal.text.contains("ld-host: error: no value was typed"))
        #expect(try home.run("exists", "userDefaults/k").status == 1)
    }

    @Test("a long import shows a bar that ends at 100%; without a terminal there is none")
    func progress() throws {
        let home = try Home()
        let values = Dictionary(uniqueKeysWithValues: (1...50).map { ("k\($0)", $0) })
        let file = "\(home.path)/values.json"
        try JSONEncoder().encode(values).write(to: URL(filePath: file))
        let terminal = try PseudoTerminal(home, "import", "userDefaults", file)
        #expect(terminal.end() == 0)
        #expect(terminal.text.contains("\rimporting [\(String(repeating: "#", count: 30))] 100%\r\n"))
        #expect(terminal.text.hasSuffix("\r\nimported 50 values into userDefaults\r\n"))
        let ending = try home.run("import", "userDefaults", file)
        #expect(ending.errors == "")
        #expect(ending.text == "imported 50 values into userDefaults\n")
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

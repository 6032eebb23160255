import TestSupport
import Testing

@Suite("The width of what ld-host writes")
struct WidthTests {
    private let home: Home

    init() throws { home = try Home() }

    @Test("help fits a terminal of 80 columns, and a narrower one as far as a word does")
    func help() throws {
        let whole = try home.done("help").text
        let names = Set(
            whole.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.dropFirst(2).first?.isLetter == true }
                .compactMap { $0.split(separator: " ").first.map(String.init) })
        #expect(names.count > 20)
        for name in names.sorted() {
            let text = try home.done("help", name).text
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        }
        #expect(whole.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(whole)")
        let narrow = try home.run(BuiltProducts.host, ["help", "doctor"], adding: ["COLUMNS": "50"]).text
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 50 }, "\(narrow)")
        func words(_ text: String) -> [Substring] { text.split { $0.isWhitespace } }
        #expect(try words(narrow) == words(home.done("help", "doctor").text))
    }

    @Test("on a terminal messages are wrapped between words; elsewhere each is one line")
    func messages() throws {
        let message = try home.run("ls", "keychain/").errors
        #expect(message.split(separator: "\n").count == 2)
        #expect(message.split(separator: "\n").contains { $0.count > 80 })
        for (columns, width) in [([:], 80), (["COLUMNS": "40"], 40)] {
            let terminal = try PseudoTerminal(home, "ls", "keychain/", adding: columns)
            #expect(terminal.end() == 2)
            let lines = terminal.text.split(separator: "\r\n")
            #expect(lines.count > 2 && lines.allSatisfy { $0.count <= width }, "\(terminal.text)")
            #expect(lines.joined(separator: " ").split(separator: " ") == message.split { $0.isWhitespace })
        }
    }

    @Test(
        "on a terminal an audit is wrapped between words; elsewhere it is not wrapped", arguments: [[], ["--keys"]])
    func audit(_ options: [String]) throws {
        try home.done("set", "userDefaults/theme", "dark")
        let terminal = try PseudoTerminal(home, ["audit"] + options)
        #expect(terminal.end() == 0)
        let lines = terminal.text.split(separator: "\r\n")
        // A line with only a path may be longer.
        #expect(lines.allSatisfy { line in line.count <= 80 || line.split(separator: " ").count == 1 }, "\(lines)")
        let whole = try home.run(BuiltProducts.host, ["audit"] + options).text
        #expect(whole.split(separator: "\n").contains { $0.count > 80 })
        // The audit's time may differ, and only a person gets the hint.
        func words(_ text: String) -> [Substring] {
            text.split { $0.isWhitespace }.filter { $0.wholeMatch(of: #/20..-..-..T..:..:..Z,/#) == nil }
        }
        #expect(words(terminal.text).starts(with: words(whole)))
    }

    @Test("on a terminal a plan begins with its actions in columns; elsewhere it does not")
    func plan() throws {
        let steps = """
            [{"id":"a","rename":{"from":"userDefaults/a","to":"userDefaults/b"}},
             {"id":"none","rename":{"from":"userDefaults/c","to":"userDefaults/d"}},
             {"id":"broken","map":{"from":"userDefaults/e","to":"userDefaults/f","fields":[{"drop":"/x"}]}}]
            """
        try home.done(
            "config", "set", "migrations.packs.app",
            "{\"component\": \"standard\", \"options\": {\"manifest\": \(steps)}}")
        try home.done("set", "userDefaults/a", "1")
        try home.done("set", "userDefaults/e", "text")
        let terminal = try PseudoTerminal(home, "migrate", "plan")
        #expect(terminal.end() == 2)
        let lines = terminal.text.split(separator: "\r\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(terminal.text)")
        #expect(lines.first == "1 migration would fail, and 1 is pending")
        let columns = ["refuse         broken  ", "run            a       ", "nothing to do  none    "]
        #expect(zip(lines.dropFirst().filter { !$0.hasPrefix(" ") }, columns).allSatisfy { $0.hasPrefix($1) })
        let whole = try home.run("migrate", "plan").text
        #expect(whole.hasPrefix("run  a\n") && !whole.contains("is pending"))
    }

    @Test("on a terminal doctor's findings are wrapped, and a value of the configuration has its place below")
    func results() throws {
        let short = try PseudoTerminal(home, "doctor")
        #expect(short.end() == 0)
        #expect(
            short.text.split(separator: "\r\n") == [
                "ok: nothing needs attention", "to see everything that was checked: ld-host doctor --verbose",
            ])
        let doctor = try PseudoTerminal(home, "doctor", "--verbose")
        #expect(doctor.end() == 0)
        // The `debug` lines go to standard error, which is the terminal, too.
        let lines = doctor.text.split(separator: "\r\n").filter { !$0.hasPrefix("debug ") }
        #expect(lines.allSatisfy { line in line.count <= 80 || line.split(separator: " ").contains { $0.count > 60 } })
        #expect(lines.contains { $0.hasPrefix("    ") && !$0.hasPrefix("      ") })
        #expect(lines.first == "ok: nothing needs attention")
        let ill = try PseudoTerminal(home, "-c", "domains.userDefaults=none", "doctor", "--verbose")
        #expect(ill.end() == 2)
        let found = ill.text.split(separator: "\r\n")
        let marks = found.map { $0.prefix(2) }.filter { $0 == "!!" || $0 == "ok" }
        #expect(found.contains { $0.hasPrefix("\(marks.count { $0 == "!!" }) thing") }, "\(ill.text)")
        #expect(marks.first == "!!" && marks.drop { $0 == "!!" }.allSatisfy { $0 == "ok" })
        let show = try PseudoTerminal(home, "config", "show", "--origin")
        #expect(show.end() == 0)
        #expect(show.text.contains("device.role = \"all\""))
        let long = try PseudoTerminal(
            home, "-c", "app.version=\(String(repeating: "1", count: 70))", "config", "show", "--origin")
        #expect(long.end() == 0)
        #expect(long.text.contains("\r\n      flag -c\r\n      app.version="))
    }
}

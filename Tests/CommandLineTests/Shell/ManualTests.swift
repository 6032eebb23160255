import FoundationEssentials
import TestSupport
import Testing

@Suite("The manual of ld-host")
struct ManualTests {
    @Test("has a page for the program and for each group of commands, which man shows without a warning")
    func pages() throws {
        let home = try Home()
        let pages = try home.done("man", "--list").text.split(separator: "\n").map(String.init)
        let help = try home.done("help").text
        #expect(pages.count == 13 && pages.first == "ld-host" && pages.last == "ld-host-config.5")
        var all = ""
        for page in pages {
            let text = try home.done("man", page).text
            let file = "\(home.path)/\(page)\(page.hasSuffix(".5") ? "" : ".1")"
            try Data(text.utf8).write(to: URL(filePath: file))
            let lint = try home.run("/usr/bin/mandoc", ["-T", "lint", "-W", "warning", file])
            let warnings = lint.text.split(separator: "\n").filter { !$0.contains("missing date") }
            #expect(warnings.isEmpty, "\(warnings)")
            all += try home.run("/usr/bin/mandoc", ["-T", "ascii", file]).text
        }
        let shown = all.replacing(/.\u{8}/, with: "")
        let commands = help.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .map { $0.drop { $0 == " " }.prefix { $0.isLowercase || $0 == " " } }
            .map { $0.split(separator: "  ").first ?? "" }
        #expect(commands.count > 45)
        for command in commands where command.first?.isLowercase == true {
            #expect(shown.contains("ld-host \(command.drop { $0 == " " })".trimmed), "\(command)")
        }
        #expect(try home.run("man", "nothing").status == 64)
    }

    @Test("has examples on each page, which can be typed one after the other")
    func examples() throws {
        let home = try Home()
        var script = "set -e; cd $HOME; printf 'a passphrase\n' > passphrase; mkdir -m 700 Sync\n"
        for page in try home.done("man", "--list").text.split(separator: "\n") where page.hasPrefix("ld-host") {
            let text = try home.done("man", String(page)).text
            let part = try #require(text.split(separator: ".SH EXAMPLES\n").last, "\(page)")
            guard !page.hasSuffix(".5") else {
                let file = part.split(separator: "\n").drop { $0 != "{" }.prefix { $0 != ".RE" }
                let example = file.joined(separator: "\n").replacing("\\-", with: "-")
                script += "printf '%s' '\(example)' > example.json; ld-host config validate example.json\n"
                script += "ld-host --config example.json set notes/first hello\n"
                continue
            }
            let lines = part.split(separator: "\n").filter { $0.hasPrefix("ld\\-host ") || $0.hasPrefix("printf ") }
            #expect(!lines.isEmpty, "\(page)")
            for line in lines { script += line.replacing("\\-", with: "-").replacing("\\e", with: "\\") + "\n" }
        }
        let ending = try home.shell(script)
        #expect(ending.status == 0, "\(ending.text)\(ending.errors)")
    }

    @Test("has every setting in section 5")
    func settings() throws {
        let page = try Home().done("man", "ld-host-config.5").text.replacing("\\-", with: "-")
        for setting in ["domains.<domain>", "stores.<store>.sealing.from", "sync.maxAutoSyncSize", "plugins.path"] {
            #expect(page.contains("\n.B \(setting)\n"), "\(setting)")
        }
    }

    @Test("has a short help for a group of commands, and a long one for a command")
    func groupHelp() throws {
        let home = try Home()
        let keys = try home.done("help", "keys").text.split(separator: "\n")
        #expect(keys.count <= 15 && keys.contains { $0.hasPrefix("  keys rotate ") }, "\(keys)")
        #expect(try home.done("help", "keys", "rotate").text.hasPrefix("usage: ld-host keys rotate"))
        // A command of this name, and others whose names begin so.
        #expect(try home.done("help", "set").text.hasPrefix("usage: ld-host set"))
    }
}

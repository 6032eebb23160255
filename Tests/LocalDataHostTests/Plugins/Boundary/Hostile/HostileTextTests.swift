import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("text from outside on its way to a terminal or a log", .waitsForPrograms) struct HostileTextTests {
    private func expectTame(
        _ bytes: [UInt8], _ what: String, _ location: SourceLocation = #_sourceLocation
    ) {
        let text = String(decoding: bytes, as: UTF8.self)
        let unfit = text.unicodeScalars.filter { PrintableText.isUnfit($0) && $0 != "\n" }
        #expect(unfit.isEmpty, "\(what): \(text.debugDescription)", sourceLocation: location)
    }

    @Test("a plugin's description of itself is escaped")
    func plugins() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(variant: [], as: "libmode-text.so", source: "hostile.c")
        for arguments in [["inspect", path], ["inspect", path, "--json"], ["list"], ["list", "--json"]] {
            let end = try fixture.runHost(["plugins"] + arguments)
            #expect(end.outcome == .exited(code: 0), "\(end.errorText)")
            expectTame(end.output + end.errorTail, "\(arguments)")
            #expect(String(decoding: end.output, as: UTF8.self).contains("Na\\u"), "\(arguments)")
        }
        let shown = String(decoding: try fixture.runHost(["plugins", "inspect", path]).output, as: UTF8.self)
        #expect(shown.contains(#"Na\u{1b}[31mme\nrefused 1\u{202e}.0\u{9b}, ABI"#))
        #expect(shown.contains(#"mo\u{1b}[1mde: string (\u{202e}, \u{7}), default "\u{202e}""#))
    }

    @Test("a plugin's log cannot forge lines")
    func log() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.build(variant: [], as: "libHostile.so", source: "hostile.c")
        let end = try fixture.runHost([
            "-c", "stores.h.component=hostile-store", "-c", "stores.h.options.mode=log-forges", "-c",
            "domains.userDefaults=h", "-c", "log.level=debug", "get", "userDefaults/name",
        ])
        #expect(end.outcome == .exited(code: 0), "\(end.errorText)")
        expectTame(end.errorTail, "log")
        #expect(end.errorText.contains(#"error a\nerror b: \u{1b}[2J\nerror router: \u{202e} forged \u{9b}"#))
    }

    @Test("a key's name is escaped in text and in JSON, and stays the same in JSON")
    func names() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let name = "a\u{9B}31m\u{202E}b\u{2028}c\u{61C}"
        let file = ["-c", "domains.userDefaults=file"]
        #expect(try fixture.runHost(file + ["set", "userDefaults/\(name)", "value"]).outcome == .exited(code: 0))
        for arguments in [
            ["ls"], ["ls", "--json"], ["export", "userDefaults"], ["doctor"], ["get", "userDefaults/x\(name)"],
        ] {
            let end = try fixture.runHost(file + arguments)
            expectTame(end.output + end.errorTail, "\(arguments)")
        }
        let exported = try fixture.runHost(file + ["export", "userDefaults/"]).output
        #expect(try Array(JSONDecoder().decode([String: AnyCodable].self, from: Data(exported)).keys) == [name])
    }

    @Test("an invalid path in the configuration is shown as written")
    func configurationPath() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let end = try fixture.runHost(["-c", "a;=1", "ls"])
        #expect(end.errorText.contains("a;: unknown key") && !end.errorText.contains("Slice"))
    }

    @Test("escapes do not change the JSON value, and text without special characters stays unchanged")
    func functions() {
        #expect(PrintableText.escaped("plain ü 👩‍👩‍👧") == "plain ü 👩‍👩‍👧")
        #expect(PrintableText.escaped("a\u{7F}\r\t") == #"a\u{7f}\r\t"#)
        let json = Data("{\n  \"\u{7F}\u{85}\u{200E}ü€\" : 1\n}".utf8)
        #expect(
            String(decoding: PrintableText.escaped(json: json), as: UTF8.self)
                == "{\n  \"\\u007f\\u0085\\u200eü€\" : 1\n}")
    }
}

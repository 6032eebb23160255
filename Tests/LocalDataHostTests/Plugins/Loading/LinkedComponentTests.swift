import FoundationEssentials
import Glibc
import LocalDataHost
import TestSupport
import Testing

@Suite("components that are linked into ld-host", .waitsForPrograms) struct LinkedComponentTests {
    /// Leaves the fixture's folder out of the search path.
    private static let alone = ["LOCALDATA_PLUGIN_PATH": ""]

    private func run(
        _ fixture: FixtureBuilder, _ words: [String], _ variables: [String: String] = alone
    ) throws -> String {
        let end = try fixture.runHost(words, environment: variables)
        try #require(end.outcome == .exited(code: 0), "\(words): \(end.errorText)")
        return String(decoding: end.output, as: UTF8.self) + end.errorText
    }

    @Test("serves a value in files without reading any plugin's file; a value in SQLite needs its plugin")
    func needsNoPlugin() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        func loaded(_ key: String) throws -> String {
            try run(fixture, ["get", key], Self.alone.merging(["LD_DEBUG": "files"]) { $1 })
        }
        _ = try run(fixture, ["set", "fileSystem/key", "value"])
        #expect(try !loaded("fileSystem/key").contains("Store.so"))
        #expect(access("\(fixture.folder)/cache/localdata/plugins.json", F_OK) != 0, "a plugin was inspected")
        _ = try run(fixture, ["set", "userDefaults/key", "value"])
        #expect(try loaded("userDefaults/key").contains("libSQLiteStore.so"))
        #expect(access("\(fixture.folder)/cache/localdata/plugins.json", F_OK) == 0)
    }

    @Test("is replaced by a named plugin, whose options then count, even if another is next to the program")
    func isReplaced() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build("FIXTURE_OPTIONS", component: "memory")
        let named = ["LOCALDATA_PLUGIN_PATH": path]
        let change = ["config", "set", "stores.own", "{component: \"memory\", options: {mode: \"safe\", count: 1}}"]
        let refused = try fixture.runHost(change, environment: Self.alone)
        #expect(refused.outcome == .exited(code: 2))
        #expect(refused.errorText.contains("component 'memory': unknown option '"), "\(refused.errorText)")
        _ = try run(fixture, change, named)
        let used = try fixture.runHost(
            ["-c", "domains.userDefaults=own", "-v", "get", "userDefaults/key"], environment: named)
        #expect(used.errorText.contains("component 'memory' of \(path)"), "\(used.errorText)")
        #expect(try run(fixture, ["plugins", "inspect", "memory"], named).contains("file: \(path)\n"))
        let candidates = try run(fixture, ["__complete", "plugins", "inspect", "mem"], named).split(separator: "\n")
        #expect(candidates.filter { $0.hasPrefix("memory") }.count == 1, "\(candidates)")
    }

    @Test("does not give way to a refused plugin, and the refusal is reported")
    func outlivesRefusal() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build("FIXTURE_BAD_MAGIC", component: "file")
        let named = ["LOCALDATA_PLUGIN_PATH": path]
        _ = try run(fixture, ["set", "fileSystem/key", "value"], named)
        #expect(try run(fixture, ["get", "fileSystem/key"]) == "value")
        let doctor = try fixture.runHost("doctor", environment: named)
        let lines = String(decoding: doctor.output, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("!!  plugin refused: ") && $0.contains(path) })
        #expect(lines.contains { $0.hasPrefix("ok  component 'file' is linked into this program") })
    }
}

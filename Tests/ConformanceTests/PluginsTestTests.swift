import FoundationEssentials
import LocalDataTesting
import TestSupport
import Testing

@Suite("ld-host plugins test", .serialized)
struct PluginsTestTests {
    @Test("finds nothing in the plugins of this package", arguments: ["MemoryStore", "FileStore"])
    func ownPluginsPass(_ name: String) throws {
        let end = try Built.testPlugin(BuiltProducts.plugin(name))
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        #expect(end.output.contains(" passed, 0 failed, "))
    }

    @Test("finds nothing in the plugin of SQLite databases, and skips only what needs folders to change together")
    func databasePasses() throws {
        let file = BuiltProducts.plugin("SQLiteStore")
        let end = try Built.testPlugin(file, "--verbose", "--options", #"{"largestValue": 16777216}"#)
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        #expect(end.output.contains(" passed, 0 failed, 6 skipped"), "\(end.output)")
        #expect(end.output.components(separatedBy: "it keeps folders apart").count == 4, "\(end.output)")
    }

    @Test("finds nothing in a correct store in C that processes share, and that has abilities of its own")
    func fixturePasses() throws {
        let results = try results(nil)
        #expect(results.filter { $0.outcome == .failed } == [])
        let passed = results.filter { $0.outcome == .passed }.map(\.id)
        #expect(Set(passed).isSuperset(of: BrokenPlugin.all.map(\.check)))
    }

    @Test("fails the check whose promise a plugin breaks", arguments: BrokenPlugin.all)
    func brokenPluginFails(_ broken: BrokenPlugin) throws {
        let results = try results(broken.variant, "--only", broken.check)
        #expect(results.map(\.outcome) == [.failed], "\(results)")
    }

    /// All plugins with `LOCALDATA_TORTURE=1`; otherwise one, the same for the same `LOCALDATA_SEED`.
    @Test("fails no other check", arguments: TestRun.sample(1, of: BrokenPlugin.all))
    func brokenPluginFailsNoOther(_ broken: BrokenPlugin) throws {
        let failed = try results(broken.variant).filter { $0.outcome == .failed }
        #expect(failed.map(\.id) == [broken.check], "\(failed)")
    }

    @Test("reports a crash as the result of the running check, and continues with the next")
    func crashIsAResult() throws {
        let results = try results(
            "CRASHES", "--only", "value.empty", "--only", "remove.absent", "--only", "set.replaces")
        #expect(results.map(\.id) == ["value.empty", "set.replaces", "remove.absent"])
        // The stored values are removed at the end of a check, and that crashes, too.
        #expect(results.allSatisfy { $0.outcome == .failed })
        #expect(results.allSatisfy { $0.reason?.contains("crashed the process with signal 6 (SIGABRT)") ?? false })
    }

    @Test("reports a hang as the result of the running check, and skips the rest")
    func hangIsAResult() throws {
        let results = try results("HANGS", "--timeout", "2", "--only", "remove.absent", "--only", "boundary.reports")
        #expect(results.map(\.outcome) == [.failed, .skipped])
        #expect(results.first?.reason?.contains("did not end before") ?? false)
        #expect(results.last?.reason?.contains("was reached") ?? false)
    }

    @Test("prints a line for each ability and every failure; each check on request; errors by their names")
    func shortReport() throws {
        let (folder, file) = try Built.fixture("BROKEN_REPORTS")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let short = try Built.testPlugin(file, "--only", "boundary.reports", "--only", "boundary.stops")
        #expect(short.status == 2)
        let lines = short.output.split(separator: "\n").dropFirst()
        #expect(lines.count == 3, "\(short.output)")
        #expect(lines.dropFirst(0).first == "FAIL  boundary                      1 passed, 1 failed")
        #expect(lines.dropFirst(1).first?.hasPrefix("FAIL  boundary.reports   ") == true)
        #expect(lines.last == "1 passed, 1 failed, 0 skipped")
        let long = try Built.testPlugin(file, "--verbose", "--only", "boundary.reports", "--only", "boundary.stops")
        #expect(long.output.contains("\nok    boundary.stops  ") && !long.output.contains("boundary     "))
        let skipped = try Built.testPlugin(BuiltProducts.plugin("MemoryStore"), "--only", "shared.sees")
        #expect(skipped.output.contains("\nskip  shared                        1 skipped: the store does not declare"))
    }

    @Test("takes a component's id in place of its plugin's file, and names the nearest check")
    func componentID() throws {
        // The configuration names the folder of plugins.
        let folder = try TemporaryFolder()
        let home = folder.path
        let end = try Built.run("memory", ["--only", "value.empty"], home: home)
        #expect(end.status == 0 && end.output.hasPrefix("memory  "), "\(end.output)\(end.errors)")
        let wrong = try Built.run("memory", ["--only", "value.emty"], home: home)
        #expect(wrong.status == 2 && wrong.errors.contains("hint: did you mean 'value.empty'?"), "\(wrong.errors)")
        let none = try Built.run("no-such-component", [], home: home)
        #expect(none.status == 2 && none.errors.contains("no-such-component"), "\(none.errors)")
    }

    @Test("refuses options that the component does not have, as a failure to open")
    func unknownOption() throws {
        let end = try Built.testPlugin(
            BuiltProducts.plugin("MemoryStore"), "--options", #"{"colour": "blue"}"#, "--only", "lifecycle.open")
        #expect(end.status == 2)
        #expect(end.output.contains("unknown option 'colour'"))
    }

    @Test(
        "distinguishes misuse from failure",
        arguments: [
            (["--options", "[]"], 64), (["--timeout", "0"], 64), (["--only", "no.such"], 2),
            (["--component", "no-such"], 2),
        ] as [([String], Int32)])
    func misuse(_ arguments: [String], _ status: Int32) throws {
        let end = try Built.testPlugin(BuiltProducts.plugin("MemoryStore"), arguments[0], arguments[1])
        #expect(end.status == status)
        #expect(end.output.isEmpty)
        #expect(end.errors.contains("ld-host: error: "))
    }

    private func results(_ variant: String?, _ arguments: String...) throws -> [ConformanceResult] {
        let (folder, file) = try Built.fixture(variant)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let end = try Built.run(file, ["--json"] + arguments)
        let reports = try JSONDecoder().decode([ConformanceReport].self, from: Data(end.output.utf8))
        let report = try #require(reports.first, "\(end.errors)")
        #expect(end.status == (report.failures.isEmpty ? 0 : 2))
        return report.results
    }
}

import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite(.waitsForPrograms) struct PluginInspectorTests {
    private func inspector(_ timeout: Duration = .seconds(20)) throws -> PluginInspector {
        PluginInspector(host: try FixtureBuilder.host, timeout: timeout)
    }

    @Test(
        "a plugin that crashes its process is refused, and the error says how it ended",
        arguments: [
            ("FIXTURE_ABORT", "signal 6 (SIGABRT)"), ("FIXTURE_CRASH", "signal 11 (SIGSEGV)"),
            ("FIXTURE_EXIT", "exit status 7"),
        ])
    func crashes(_ variant: String, _ end: String) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(variant)
        let error = try #require(throws: StorageError.self) { try inspector().inspect(path) }
        #expect(error.code == .pluginRefused)
        #expect(error.message.contains(path) && error.message.contains(end), "in: \(error.message)")
        #expect(error.hint.contains("remove the plugin"))
        let shown = try fixture.runHost("plugins", "inspect", path)
        #expect(shown.outcome == .exited(code: 2))
        #expect(shown.errorText.contains(end) && shown.errorText.contains(path))
        try expectGoodPluginWorks(fixture)
    }

    @Test("a plugin that never finishes loading is refused in time, and its process is gone")
    func hangs() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        let path = try fixture.build("FIXTURE_HANG", "FIXTURE_MARK=\"\(mark)\"")
        // A slow machine may not even reach the constructor in 0.3 s. Then there is no process to check, so repeat the
        // inspection.
        var process: pid_t?
        var timeout = Duration.milliseconds(300)
        while process == nil {
            let error = try #require(throws: StorageError.self) { try inspector(timeout).inspect(path) }
            #expect(error.code == .pluginRefused)
            #expect(error.message.contains(path) && error.message.contains("did not end within \(timeout)"))
            #expect(error.hint.contains("plugins.timeout"))
            process = (try? String(contentsOf: URL(filePath: mark), encoding: .utf8)).flatMap { pid_t($0) }
            timeout *= 2
            try #require(timeout < .seconds(20), "the plugin was never loaded")
        }
        let found = kill(try #require(process), 0)
        #expect(found == -1 && errno == ESRCH, "the child is still there")
        try expectGoodPluginWorks(fixture)
    }

    @Test("a list of plugins continues after those that crash and hang")
    func listGoesOn() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.build("FIXTURE_ABORT", component: "aborts", as: "libAborts.so")
        _ = try fixture.build("FIXTURE_HANG", component: "hangs", as: "libHangs.so")
        _ = try fixture.build(component: "zeta", as: "libZeta.so")
        let end = try fixture.runHost("plugins", "list", "-c", "plugins.timeout=2")
        let output = String(decoding: end.output, as: UTF8.self)
        #expect(end.outcome == .exited(code: 0))
        #expect(output.contains("zeta") && output.contains("memory"))
        #expect(output.contains("libAborts.so': it crashed the process") && output.contains("libHangs.so': loading it"))
    }

    @Test("a good plugin is listed with its own description")
    func describes() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let description = try inspector().inspect(fixture.build("FIXTURE_OPTIONS"))
        #expect(description.name == "Fixture" && description.version == "1.0.0" && description.abi == "1.1")
        let component = try #require(description.components.first)
        #expect(component.id == "fixture" && component.kindName == "storage")
        #expect(component.options.map(\.name) == ["mode", "root", "count"])
        #expect(component.options.map(\.type) == [.string, .path, .integer])
        #expect(component.options.map(\.required) == [false, false, true])
        #expect(component.options.first?.allowed == ["fast", "safe"])
    }
}

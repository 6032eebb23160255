import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite("the process that inspects a plugin", .waitsForPrograms) struct InspectionTests {
    private func inspect(_ fixture: FixtureBuilder, _ variant: String...) throws -> PluginDescription {
        try PluginInspector(host: FixtureBuilder.host, timeout: .seconds(20)).inspect(fixture.build(variant: variant))
    }

    private func contents(_ path: String) -> String? { try? String(contentsOf: URL(filePath: path), encoding: .utf8) }

    @Test("a constructor's output is not part of the report")
    func noise() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        #expect(try inspect(fixture, "FIXTURE_NOISE").name == "Fixture")
    }

    @Test("a constructor cannot kill the processes above it, nor change their limits")
    func killsParent() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        #expect(try inspect(fixture, "FIXTURE_KILLPARENT", "FIXTURE_MARK=\"\(mark)\"").name == "Fixture")
        #expect(contents(mark) != nil, "the constructor did not run")
    }

    @Test("a process that a constructor leaves behind is gone after the inspection")
    func daemon() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        #expect(try inspect(fixture, "FIXTURE_DAEMON=\"\(mark)\"").name == "Fixture")
        let process = try #require(contents(mark).flatMap { pid_t($0) })
        #expect(kill(process, 0) == -1 && errno == ESRCH, "the process is still there")
    }

    @Test("a process that a hanging constructor leaves behind is gone after the time-out, too")
    func hangingDaemon() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        let path = try fixture.build("FIXTURE_HANG", "FIXTURE_DAEMON=\"\(mark)\"")
        let error = try #require(throws: StorageError.self) {
            try PluginInspector(host: FixtureBuilder.host, timeout: .seconds(3)).inspect(path)
        }
        #expect(error.message.contains("did not end within"))
        let process = try #require(contents(mark).flatMap { pid_t($0) })
        #expect(kill(process, 0) == -1 && errno == ESRCH, "the process is still there")
    }

    @Test("each of many plugins is loaded alone, once everything that the one before left behind is gone")
    func many() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        let variants = [
            ["FIXTURE_MARK=\"\(mark)-first\""], ["FIXTURE_DAEMON=\"\(mark)\""], ["FIXTURE_EXIT"],
            ["FIXTURE_BAD_MAGIC"], ["FIXTURE_FORGE"], ["FIXTURE_MARK=\"\(mark)-last\""],
        ]
        let paths = try variants.enumerated().map { index, variant in
            try fixture.build(variant: variant, component: "c\(index)", as: "lib\(index).so")
        }
        let gone = try FileTrust.check(fixture.build(as: "libMissing.so"))
        try FileManager.default.removeItem(atPath: gone.path)
        let files = try paths.map { try FileTrust.check($0) } + [gone]
        let findings = try PluginInspector(host: FixtureBuilder.host, timeout: .seconds(20)).inspect(files)
        let ids = findings.map { (try? $0.result.get())?.components.map(\.id) }
        #expect(ids == [["c0"], ["c1"], nil, nil, ["forged"], ["c5"], nil])
        let cutShort = findings.filter { $0.isCutShort }
        #expect(cutShort.isEmpty)
        let process = try #require(contents(mark).flatMap { pid_t($0) })
        #expect(kill(process, 0) == -1 && errno == ESRCH, "the process is still there")
        let (first, last) = (contents("\(mark)-first"), contents("\(mark)-last"))
        #expect(first != nil && last != nil && first != last, "one process has loaded both")
    }

    @Test("the results of many plugins are in the order of their files, however many processes inspect them")
    func order() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let paths = try (0..<13).map { number in
            try fixture.build(
                variant: number == 5 ? ["FIXTURE_EXIT"] : [], component: "c\(number)", as: "lib\(number).so")
        }
        let files = try paths.map { try FileTrust.check($0) }
        let findings = try PluginInspector(host: FixtureBuilder.host, timeout: .seconds(20)).inspect(files)
        let ids = findings.map { (try? $0.result.get())?.components.first?.id }
        #expect(ids == (0..<13).map { $0 == 5 ? nil : "c\($0)" })
    }

    @Test("a report reads back as written, and other text is not a report")
    func reports() throws {
        let options: [ComponentOption] = [
            .string("text", default: "a \"b\"\n\u{e9}", allowed: ["x", ""], help: "some text"),
            .path("path", required: true, help: "a path"), .integer("whole", default: .min, help: ""),
            .number("number", default: 0.1, help: ""), .boolean("switch", default: false, help: ""),
            ComponentOption("list", .list, .list([AnyCodable(.int(1)), AnyCodable(.string("two"))]), "", nil, false),
        ]
        let description = PluginDescription(
            name: "Full", version: "1.0.0", abi: "1.1",
            components: [.init(kind: 1, id: "full", summary: "a store", options: options)])
        let ends: [PluginInspector.Report.End] = [.exited(3), .signalled(11), .timedOut]
        let reports =
            [
                PluginInspector.Report(.success(description)),
                PluginInspector.Report(.failure(StorageError(.pluginRefused, "no", hint: "try again"))),
            ] + ends.map { PluginInspector.Report(end: $0) }
        let read = try #require(PluginInspector.Report.list(in: PluginInspector.Report.text(of: reports)))
        #expect(read.map { "\($0)" } == reports.map { "\($0)" })
        #expect(read.first?.description == description)
        for text in ["", "[]", "7", #"{"description": {}"#, "[{}] x"] {
            #expect(PluginInspector.Report(text: text.utf8) == nil, "\(text)")
        }
        #expect(ComponentOption.list(in: #"[{"name": "a", "type": "date"}]"#.utf8) == nil)
        #expect(ComponentOption.list(in: #"[{"name": "a", "type": "path", "default": {}}]"#.utf8) == nil)
    }

    @Test("a forged report does not make a component: the host checks the descriptor again when it loads the plugin")
    func forged() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build("FIXTURE_FORGE")
        let said = try PluginInspector(host: FixtureBuilder.host, timeout: .seconds(20)).inspect(path)
        #expect(said.components.map(\.id) == ["forged"], "the fixture did not forge its report")
        let image = try PluginImage.load(path)
        #expect(image.description.components.map(\.id) == ["fixture"])
        #expect(throws: StorageError(.componentNotFound)) { try image.open("forged") }
    }
}

import FoundationEssentials
import Glibc
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

@Suite(.waitsForPrograms) struct PluginImageTests {
    @Test(
        "a plugin that breaks the rules is refused with what was found, what was expected and what to do",
        arguments: PluginRefusal.whenLoading)
    func refuses(_ refusal: PluginRefusal) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(refusal.variant)
        let error = try #require(throws: StorageError.self) { try PluginImage.load(path) }
        #expect(error.code == .pluginRefused)
        for part in [path] + refusal.message { #expect(error.message.contains(part)) }
        #expect(error.hint.contains(refusal.hint))
        // A second attempt gives the same error: nothing half loaded was kept.
        let again = try #require(throws: StorageError.self) { try PluginImage.load(path) }
        #expect(again.message == error.message)
        try expectGoodPluginWorks(fixture)
    }

    @Test(
        "a child process that inspects such a plugin returns the same refusal", arguments: PluginRefusal.whenLoading
    )
    func refusesFromAfar(_ refusal: PluginRefusal) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(refusal.variant)
        let inspector = PluginInspector(host: try FixtureBuilder.host, timeout: .seconds(20))
        let error = try #require(throws: StorageError.self) { try inspector.inspect(path) }
        #expect(error.code == .pluginRefused)
        for part in [path] + refusal.message { #expect(error.message.contains(part)) }
        #expect(error.hint.contains(refusal.hint))
    }

    @Test(
        "a store with a table that cannot be used is refused with the plugin's file",
        arguments: PluginRefusal.whenOpening)
    func refusesStore(_ refusal: PluginRefusal) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(refusal.variant)
        let image = try PluginImage.load(path)
        let error = try #require(throws: StorageError.self) { try image.open() }
        #expect(error.code == .pluginRefused)
        for part in [path, "component 'fixture'"] + refusal.message { #expect(error.message.contains(part)) }
        #expect(error.hint.contains(refusal.hint))
        try expectGoodPluginWorks(fixture)
    }

    @Test("a store that cannot be opened says why in the component's own words and code")
    func openFails() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let image = try PluginImage.load(fixture.build("FIXTURE_OPEN_FAILS"))
        let error = try #require(throws: StorageError.self) { try image.open() }
        #expect(error.code == .storeUnavailable)
        #expect(error.message == "the fixture's server does not answer")
        #expect(error.hint == "start the server")
    }

    @Test("a component that the plugin does not have is not found in it")
    func unknownComponent() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build()
        let error = try #require(throws: StorageError.self) { try PluginImage.load(path).open("other") }
        #expect(error.code == .componentNotFound)
        #expect(error.message.contains(path) && error.message.contains("'other'"))
    }

    @Test("a plugin for another ABI runs none of its code, and a good one does run it")
    func otherMajorRunsNothing() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        let other = try fixture.build("FIXTURE_OTHER_MAJOR", "FIXTURE_MARK=\"\(mark)\"", as: "libOther.so")
        #expect(throws: StorageError.pluginRefused) { try PluginImage.load(other) }
        #expect(access(mark, F_OK) != 0, "its constructor ran")
        // The check works: loading a plugin does leave the mark.
        _ = try PluginImage.load(fixture.build("FIXTURE_MARK=\"\(mark)\"", as: "libGood.so"))
        #expect(access(mark, F_OK) == 0)
    }

    @Test("a plugin that is replaced after it was loaded is refused, for its old code would run")
    func replaced() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build()
        let first = try PluginImage.load(path)
        #expect(try PluginImage.load(path) === first)
        try #require(unlink(path) == 0)
        _ = try fixture.build("FIXTURE_NEWER")
        let error = try #require(throws: StorageError.self) { try PluginImage.load(path) }
        #expect(error.code == .pluginRefused)
        #expect(error.message.contains(path) && error.message.contains("was replaced"))
        #expect(error.hint.contains("restart the process"))
        // Open stores stay open.
        let store = try first.open()
        try store.with("name") { try store.set($0, to: Data([1]), attributes: nil) }
    }

    @Test("a plugin is the same one through any link")
    func links() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build()
        let link = "\(fixture.folder)/libLink.so"
        try #require(symlink(path, link) == 0)
        let image = try PluginImage.load(path)
        #expect(try PluginImage.load(link) === image)
        #expect(image.path == path)
    }
}

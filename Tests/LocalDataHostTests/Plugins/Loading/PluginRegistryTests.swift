import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import HostPlugins
@testable import LocalDataHost

@Suite(.waitsForPrograms) struct PluginRegistryTests {
    private func registry(_ fixture: FixtureBuilder, _ places: [String], timeout: Duration = .seconds(20)) throws
        -> PluginRegistry
    {
        PluginRegistry(
            searchPath: PluginSearchPath(places: places.map { .init(path: $0, origin: "the test") }),
            inspector: PluginInspector(host: try FixtureBuilder.host, timeout: timeout),
            cacheFolder: "\(fixture.folder)/cache")
    }

    @Test("the hint for apps covers every component of this package that apps do not link")
    func separate() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let records = try registry(fixture, [BuiltProducts.folder]).survey()
        let built = records.flatMap { $0.description?.components.map(\.id) ?? [] }
        #expect(Set(built) == PluginRegistry.separate.union(["file", "memory"]))
    }

    @Test("two plugins with one component are a tie that names both, in whichever order they are found")
    func tie() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let first = try fixture.build(as: "libFirst.so")
        let second = try fixture.build(as: "libSecond.so")
        var messages: Set<String> = []
        for places in [[first, second], [second, first], [fixture.folder], [fixture.folder, second]] {
            let registry = try registry(fixture, places)
            let error = try #require(throws: StorageError.self) {
                try registry.plugin(offering: "fixture", kind: .storage)
            }
            #expect(error.code == .componentAmbiguous)
            #expect(error.message.contains("'fixture'") && error.message.contains("'\(first)'"))
            #expect(error.message.contains("'\(second)'"))
            #expect(error.hint.contains("remove all but one"))
            messages.insert(error.message)
        }
        #expect(messages.count == 1)
        try #require(unlink(second) == 0)
        #expect(try registry(fixture, [fixture.folder]).plugin(offering: "fixture", kind: .storage).path == first)
    }

    @Test("one plugin that is found twice is no tie")
    func oneFileTwice() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build()
        try #require(symlink(path, "\(fixture.folder)/libLink.so") == 0)
        let registry = try registry(fixture, [fixture.folder, path, "\(fixture.folder)/../\(fixture.folder)"])
        #expect(try registry.plugin(offering: "fixture", kind: .storage).path == path)
    }

    @Test("a library that is not a plugin is skipped in a folder, and refused when it is named")
    func plainLibrary() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build("FIXTURE_NO_ENTRY", as: "libPlain.so")
        #expect(try registry(fixture, [fixture.folder]).survey().isEmpty)
        let named = try registry(fixture, [path]).survey()
        #expect(named.count == 1)
        #expect(named.first?.refusal?.code == .pluginRefused)
        #expect(named.first?.refusal?.message.contains(path) == true)
    }

    @Test("a component that no plugin offers is reported with the existing ones and the refusals")
    func notFound() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.build(component: "present", as: "libPresent.so")
        let refused = try fixture.build("FIXTURE_BAD_MAGIC", as: "libRefused.so")
        let registry = try registry(fixture, [fixture.folder])
        let error = try #require(throws: StorageError.self) { try registry.plugin(offering: "absent", kind: .storage) }
        #expect(error.code == .componentNotFound)
        #expect(error.message.contains("'absent'") && error.message.contains("'present'"))
        #expect(error.message.contains(refused) && error.message.contains("0x12345678"))
        #expect(error.hint.contains(fixture.folder) && error.hint.contains("LOCALDATA_PLUGIN_PATH"))
        // A storage component does not count as a component of another kind.
        #expect(throws: StorageError.componentNotFound) { try registry.plugin(offering: "present", kind: .crypto) }
    }

    @Test("an index entry counts only for the file that it describes")
    func remembers() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let mark = "\(fixture.folder)/mark"
        let path = try fixture.build("FIXTURE_MARK=\"\(mark)\"")
        #expect(try registry(fixture, [fixture.folder]).survey().first?.description?.components.first?.id == "fixture")
        try #require(unlink(mark) == 0)
        // Another process with the same cache need not inspect it again.
        #expect(try registry(fixture, [fixture.folder]).survey().first?.description?.components.first?.id == "fixture")
        #expect(access(mark, F_OK) != 0, "the plugin was loaded again although it is known")
        try #require(unlink(path) == 0)
        _ = try fixture.build(component: "other")
        #expect(try registry(fixture, [fixture.folder]).survey().first?.description?.components.first?.id == "other")
    }

    @Test(
        "a cache that is damaged or open to others is not trusted",
        arguments: [
            ("{", 0o644), ("", 0o644), ("null", 0o644), ("believed", 0o666),
        ])
    func distrusted(_ content: String, _ mode: Int) throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.build()
        #expect(try registry(fixture, [fixture.folder]).survey().first?.description != nil)
        let cache = "\(fixture.folder)/cache/plugins.json"
        let good = try String(contentsOf: URL(filePath: cache), encoding: .utf8)
        try #require(good.contains("\"fixture\""))
        let forged = content == "believed" ? good.split(separator: "fixture\"").joined(separator: "forged\"") : content
        try #require(chmod(cache, 0o644) == 0)
        try Data(forged.utf8).write(to: URL(filePath: cache))
        try #require(chmod(cache, mode_t(mode)) == 0)
        #expect(try registry(fixture, [fixture.folder]).survey().first?.description?.components.first?.id == "fixture")
    }

    @Test("a plugin that was too slow is inspected again, so that a longer timeout helps")
    func slowOnce() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try fixture.build("FIXTURE_SLOW_START=500")
        let first = try registry(fixture, [fixture.folder], timeout: .milliseconds(100)).survey()
        #expect(first.first?.refusal?.message.contains("did not end within") == true)
        let second = try registry(fixture, [fixture.folder], timeout: .seconds(20)).survey()
        #expect(second.first?.description?.components.first?.id == "fixture")
    }

    @Test("plugins with the same component that do not serve it have a reason; named files can be a tie")
    func choices() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        for folder in ["found", "named"] { try TemporaryFolder.makeFolder("\(fixture.folder)/\(folder)") }
        let found = try fixture.build(component: "full", as: "found/libFull.so")
        let table = Plugin.export("Linked", version: "1.0.0", .storage(FullStore.self))
        let places = [
            PluginSearchPath.Place(path: "\(fixture.folder)/found", origin: "beside", isConfigured: false),
            PluginSearchPath.Place(path: "\(fixture.folder)/named", origin: "the test"),
        ]
        let registry = PluginRegistry(
            searchPath: PluginSearchPath(places: places),
            inspector: PluginInspector(host: try FixtureBuilder.host, timeout: .seconds(20)),
            cacheFolder: "\(fixture.folder)/cache", linked: [try PluginImage(linked: table, name: "the program")])
        func obstacles() -> [String: String] {
            let records = registry.records()
            return records.reduce(into: [:]) { all, record in
                all[record.candidate.path] = ComponentChoice.obstacles(of: record, in: records.choices)["full"]
            }
        }
        #expect(obstacles() == [found: "plugins.path does not name it"])
        #expect(registry.components(.storage, among: registry.records()) == ["full"])
        let first = try fixture.build(component: "full", as: "named/libFirst.so")
        #expect(obstacles() == [found: "the test names another", "the program": "the test names another"])
        #expect(try registry.plugin(offering: "full", kind: .storage).path == first)
        let second = try fixture.build(component: "full", as: "named/libSecond.so")
        let choice = registry.records().choice(of: "full", .storage)
        #expect(choice.serving.map(\.candidate.path) == [first, second] && choice.reason.isEmpty)
        #expect(Set(choice.unused.map(\.candidate.path)) == [found, "the program"])
    }

    @Test("its usual file alone shows whether a component may be offered; without that, every plugin is inspected")
    func mayOffer() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let cache = "\(fixture.folder)/cache/plugins.json"
        let path = try fixture.build("FIXTURE_BAD_MAGIC", as: "libUsual.so")
        for place in [fixture.folder, path] {
            #expect(try registry(fixture, [place]).mayOffer("fixture", .storage, usuallyIn: "libUsual.so"))
        }
        #expect(access(cache, F_OK) != 0, "a plugin was inspected")
        // A refused plugin may offer any component.
        #expect(try registry(fixture, [fixture.folder]).mayOffer("absent", .storage, usuallyIn: "libOther.so"))
        #expect(access(cache, F_OK) == 0)
        try #require(unlink(path) == 0)
        _ = try fixture.build(as: "libSound.so")
        #expect(try registry(fixture, [fixture.folder]).mayOffer("fixture", .storage, usuallyIn: "libUsual.so"))
        #expect(try !registry(fixture, [fixture.folder]).mayOffer("absent", .storage, usuallyIn: "libUsual.so"))
    }

    @Test("a plugin linked into the program serves unless the configuration names a file with the same component")
    func linked() throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let path = try fixture.build(component: "full")
        let table = Plugin.export("Linked", version: "1.0.0", .storage(FullStore.self))
        func registry(_ places: [PluginSearchPath.Place]) throws -> PluginRegistry {
            PluginRegistry(
                searchPath: PluginSearchPath(places: places),
                inspector: PluginInspector(host: try FixtureBuilder.host, timeout: .seconds(20)),
                cacheFolder: "\(fixture.folder)/cache", linked: [try PluginImage(linked: table, name: "the program")])
        }
        let found = PluginSearchPath.Place(path: fixture.folder, origin: "beside", isConfigured: false)
        let named = PluginSearchPath.Place(path: fixture.folder, origin: "the test")
        for (places, expected, reason) in [
            ([], "the program", ""), ([found], "the program", "'\(path)' is not named in plugins.path"),
            ([named], path, "replaces the one that is linked in"),
            ([.init(path: "/nowhere", origin: "the test"), found], "the program", "is not named in plugins.path"),
        ] {
            let registry = try registry(places)
            #expect(try registry.plugin(offering: "full", kind: .storage).path == expected)
            let found = registry.reason(for: expected, offering: "full", .storage)
            #expect(found.contains(reason) && found.isEmpty == reason.isEmpty, "\(found)")
            #expect(registry.reason(for: "another", offering: "full", .storage).isEmpty)
        }
        _ = try fixture.build(component: "full", as: "libOther.so")
        let error = try #require(throws: StorageError.self) {
            try registry([named]).plugin(offering: "full", kind: .storage)
        }
        #expect(error.code == .componentAmbiguous && error.message.contains("'\(path)'"))
    }
}

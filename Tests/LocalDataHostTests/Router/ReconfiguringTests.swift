import FoundationEssentials
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostPlugins
@testable import HostStores
@testable import LocalDataHost

@Suite("what configure changes") struct ReconfiguringTests {
    @Test(
        "takes effect after an earlier change: values go to the new folder",
        arguments: ["file", "sqlite"])
    func dataFolder(_ component: String) async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { userDefaults: \"\(component)\" }"))
        try await router.configure("domains.sessions", "memory")
        try await router.set("before", for: textKey("k"))
        try await router.configure("directories.data", AnyCodable("\(fixture.folder)/other"))
        #expect(try await !router.exists(textKey("k")))
        try await router.set("after", for: textKey("k"))
        let files = try FileManager.default.subpathsOfDirectory(atPath: "\(fixture.folder)/other")
        #expect(!files.isEmpty)
        try await router.configure("directories.data", AnyCodable("\(fixture.folder)/data"))
        #expect(try await router.get(textKey("k")) == "before")
    }

    @Test("keeps what is only in memory when a folder changes, which that store does not use")
    func memory() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        try await router.set("kept", for: textKey("k"))
        try await router.configure("directories.cache", AnyCodable("\(fixture.folder)/other"))
        #expect(try await router.get(textKey("k")) == "kept")
    }

    @Test("reaches a store that was configured before it, and is not open yet: its plugin is looked for again")
    func pluginPath() async throws {
        let (fixture, plugins) = (try FixtureBuilder(), try FixtureBuilder())
        defer {
            fixture.remove()
            plugins.remove()
        }
        _ = try await plugins.build(component: "late")
        let router = StorageRouter(configuration: try fixture.configuration("domains: { userDefaults: \"late\" }"))
        await #expect(throws: StorageError.self) { try await router.exists(textKey("k")) }
        try await router.configure("plugins.path", AnyCodable([AnyCodable(plugins.folder)]))
        #expect(try await !router.exists(textKey("k")))
    }

    @Test("reaches what is open: a component logs to the handler and at the level of the present configuration")
    func logHandler() throws {
        let relay = LogRelay()
        let (first, second) = (ListLog(level: .warning), ListLog(level: .debug))
        relay.handler = first
        let table = HostTable.shared(for: relay)
        #expect(HostTable.shared(for: relay) === table)
        relay(.debug, "store", "unheard")
        relay(.warning, "store", "one")
        relay.handler = second
        relay(.debug, "store", "two")
        #expect(first.messages == ["one"] && second.messages == ["two"])
    }

    @Test("resumes what was interrupted, when another folder has the journal")
    func journal() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let log = ListLog(level: .info)
        let router = StorageRouter(
            configuration: try fixture.configuration("domains: { userDefaults: \"memory\" }"), log: log)
        #expect(try await !router.exists(textKey("k")))
        let journal = try IntentJournal(folder: "\(fixture.folder)/other/journal")
        // Whose owner ends here, without having finished it.
        do { _ = try journal.begin(kind: BatchIntent.kind, subject: "an interrupted batch", payload: Data([1])) }
        try await router.configure("directories.state", AnyCodable("\(fixture.folder)/other"))
        #expect(try await !router.exists(textKey("k")))
        #expect(log.messages.contains { $0.hasPrefix("'an interrupted batch' is ") }, "\(log.messages)")
    }
}

/// Keeps messages.
private final class ListLog: StorageLogHandler {
    let level: StorageLogLevel
    private let list = Mutex<[String]>([])

    init(level: StorageLogLevel) { self.level = level }

    var messages: [String] { list.withLock { $0 } }

    func log(_ level: StorageLogLevel, label: String, _ message: String) { list.withLock { $0.append(message) } }
}

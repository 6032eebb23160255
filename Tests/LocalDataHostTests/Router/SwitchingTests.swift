import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostGround
@testable import HostTransfer
@testable import LocalDataHost

/// Another store for a domain while programs use it, in one process. `SwitchedStoresTests` has many processes.
@Suite("Switching a domain's store", .serialized) struct SwitchingTests {
    private struct Files {
        let fixture: FixtureBuilder
        var flags: HostConfiguration.Flags { HostConfiguration.Flags(file: "\(fixture.folder)/config.json") }

        init(_ domains: String = #"userDefaults: "one""#) throws {
            fixture = try FixtureBuilder()
            let text = """
                {
                  directories: {
                    data: "\(fixture.folder)/data", cache: "\(fixture.folder)/cache", state: "\(fixture.folder)/state",
                    config: "\(fixture.folder)/config",
                  },
                  log: { level: "off" },
                  stores: {
                    one: { component: "file", options: { root: "\(fixture.folder)/one" } },
                    two: { component: "file", options: { root: "\(fixture.folder)/two" } },
                  },
                  domains: { \(domains) },
                }
                """
            try Data(text.utf8).write(to: URL(filePath: "\(fixture.folder)/config.json"))
        }

        func router(_ values: String...) throws -> StorageRouter {
            var flags = flags
            flags.values = values
            return StorageRouter(configuration: try HostConfiguration.load(flags: flags))
        }
    }

    private let key = textKey("k")

    @Test("another program follows, finds every value, and the former store has none")
    func follows() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let (program, other) = (try files.router(), try files.router())
        for number in 0..<50 { try await program.set("v\(number)", for: textKey("k\(number)")) }
        let plan = try await other.switchStore(of: ["userDefaults"], to: "two", planOnly: true)
        #expect(plan.parts.map(\.copied) == [50] && plan.parts.map(\.removed) == [50] && plan.heldMilliseconds == nil)
        #expect(try await program.stores.route(of: "userDefaults")?.store == "one")
        let report = try await other.switchStore(of: ["userDefaults"], to: "two")
        #expect(report.parts.map(\.from) == ["one"] && report.parts.map(\.removed) == [50] && report.isComplete)
        #expect(report.heldMilliseconds != nil)
        #expect(try await program.get(textKey("k7")) == "v7")
        #expect(try await program.stores.route(of: "userDefaults")?.store == "two")
        #expect(try await files.router("domains.userDefaults=one").names(in: .userDefaults()).isEmpty)
        #expect(try await program.names(in: .userDefaults()).count == 50)
        #expect(try await other.switchStore(of: ["userDefaults"], to: "two").parts.isEmpty)
    }

    @Test("with its values kept the former store is out of the way, and may serve again")
    func keeps() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let router = try files.router()
        try await router.set("v", for: key)
        _ = try await router.switchStore(of: ["userDefaults"], to: "two", keepingSource: true)
        #expect(try await files.router("domains.userDefaults=one").get(key) == "v")
        #expect(try await router.remove(key))
        #expect(try await !router.exists(key))
        try await router.set("new", for: textKey("new"))
        let back = try await router.switchStore(of: ["userDefaults"], to: "one")
        #expect(back.parts.map(\.copied) == [1])
        #expect(try await router.names(in: .userDefaults()) == ["new"])
    }

    @Test("several domains leave several stores at once")
    func several() async throws {
        let files = try Files(#"userDefaults: "one", fileSystem: "file""#)
        defer { files.fixture.remove() }
        let router = try files.router()
        let file = textKey("f", .fileSystem())
        try await router.set("v", for: key)
        try await router.set("f", for: file)
        let report = try await router.switchStore(of: ["fileSystem", "userDefaults"], to: "two")
        #expect(report.parts.map(\.from) == ["file", "one"])
        #expect(try await router.get(key) == "v")
        #expect(try await router.get(file) == "f")
    }

    @Test("what would lose or lay open values, or what nobody could follow, is refused, and nothing has changed")
    func refusals() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let router = try files.router()
        try await router.set("v", for: key)
        try await files.router("domains.userDefaults=two").set("other", for: key)
        func expect(
            _ code: StorageError.Code, _ location: SourceLocation = #_sourceLocation, _ call: () async throws -> Void
        ) async throws {
            let error = await #expect(throws: StorageError.self, sourceLocation: location) { try await call() }
            #expect(error?.code == code, "\(error as Any)", sourceLocation: location)
            #expect(try await router.get(key) == "v", sourceLocation: location)
        }
        try await expect(.conflict) { _ = try await router.switchStore(of: ["userDefaults"], to: "two") }
        try await expect(.unsupported) { _ = try await router.switchStore(of: ["userDefaults"], to: "memory") }
        try await expect(.unsupported) { _ = try await router.switchStore(of: ["keychain"], to: "two") }
        try await expect(.invalidAddress) { _ = try await router.switchStore(of: ["nothing"], to: "two") }
        try await expect(.componentNotFound) { _ = try await router.switchStore(of: ["userDefaults"], to: "three") }
        let flagged = try files.router("domains.userDefaults=one")
        try await expect(.invalidConfiguration) {
            _ = try await flagged.switchStore(of: ["userDefaults"], to: "two", overwriting: true)
        }
        let coded = StorageRouter(configuration: try HostConfiguration(text: "{}"))
        try await expect(.unsupported) { _ = try await coded.switchStore(of: ["userDefaults"], to: "two") }
        // The other store's value is still there, until somebody agrees to lose it.
        #expect(try await files.router("domains.userDefaults=two").get(key) == "other")
        _ = try await router.switchStore(of: ["userDefaults"], to: "two", overwriting: true)
        #expect(try await router.get(key) == "v")
    }

    @Test("a switch back that is refused leaves values in the former store as what they are")
    func refusedBack() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let router = try files.router()
        try await router.set("v", for: key)
        _ = try HostConfiguration.load(flags: files.flags)
            .change("domains.userDefaults", to: "two", flags: files.flags, besides: { _ in [] })
        let flagged = try files.router("domains.userDefaults=two")
        for _ in 0..<2 {
            await #expect(throws: StorageError.self) {
                _ = try await flagged.switchStore(of: ["userDefaults"], to: "one", overwriting: true)
            }
            let error = await #expect(throws: StorageError.self) { _ = try await router.get(key) }
            #expect(error?.code == .invalidConfiguration, "\(error as Any)")
        }
        let refused = await #expect(throws: StorageError.self) {
            _ = try await router.switchStore(of: ["userDefaults"], to: "one")
        }
        // What the store has of other domains stays where it is.
        #expect(refused?.code == .conflict)
        #expect(refused?.hint.contains("ld-host store copy one two --domain userDefaults --move;") == true)
        _ = try await router.switchStore(of: ["userDefaults"], to: "one", overwriting: true)
        #expect(try await !router.exists(key))
    }

    @Test("stores between which a copy was interrupted are refused until it is completed or given up")
    func interruptedCopy() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let router = try files.router()
        try await router.set("v", for: key)
        let journal = try await router.snapshot().settings.folders.journal
        for (from, to) in [("one", "two"), ("two", "one")] {
            // Ends without an end.
            _ = try CopyIntent.take(from: from, to: to, domains: [], moving: true, folder: journal)
            for planOnly in [true, false] {
                let error = await #expect(throws: StorageError.self) {
                    _ = try await router.switchStore(
                        of: ["userDefaults"], to: "two", overwriting: true, planOnly: planOnly)
                }
                #expect(error?.code == .busy)
                #expect(error?.hint.contains("ld-host store copy \(from) \(to) --move") == true, "\(error as Any)")
            }
            #expect(try await router.get(key) == "v")
            try await router.stores.giveUpCopy(from, to: to)
        }
        #expect(try await router.switchStore(of: ["userDefaults"], to: "two").isComplete)
    }

    @Test("a second switch to the same store takes no copies of the first for values that were there before")
    func second() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let (first, second) = (try files.router(), try files.router())
        for number in 0..<20 { try await first.set("v\(number)", for: textKey("k\(number)")) }
        _ = try await second.names(in: .userDefaults())
        let (copying, copies) = AsyncStream.makeStream(of: Void.self)
        let goesOn = Stop()
        async let switched = first.switchStore(of: ["userDefaults"], to: "two") { progress in
            guard progress.step == "copying" else { return }
            copies.yield()
            while !goesOn.isSet.load(ordering: .relaxed) { usleep(1000) }
        }
        for await _ in copying { break }
        // The first one's copies are underway, and it holds the configuration.
        let plan = try await second.switchStore(of: ["userDefaults"], to: "two", planOnly: true)
        #expect(plan.parts.map(\.copied) == [20])
        let other = Task { try await second.switchStore(of: ["userDefaults"], to: "two") }
        try await Task.sleep(for: .milliseconds(300))
        goesOn.isSet.store(true, ordering: .relaxed)
        #expect(try await switched.isComplete)
        let error = await #expect(throws: StorageError.self) { _ = try await other.value }
        #expect(error?.code == .busy, "\(error as Any)")
        #expect(try await second.names(in: .userDefaults()).count == 20)
        #expect(try await second.switchStore(of: ["userDefaults"], to: "two").parts.isEmpty)
    }

    @Test("tasks that count, set and read lose nothing while the store is switched 20 times", .timeLimit(.minutes(5)))
    func tasks() async throws {
        let files = try Files()
        defer { files.fixture.remove() }
        let router = try files.router()
        let stop = Stop()
        let counter = StorageKey<Int>(
            name: "counter", domain: .userDefaults(), security: .none, owner: "Tests", description: "A counter.")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<3 {
                group.addTask {
                    let own = textKey("w\(worker)")
                    var count = 0
                    while !stop.isSet.load(ordering: .relaxed) {
                        count += 1
                        try await router.update(counter) { $0 = ($0 ?? 0) + 1 }
                        try await router.set("\(count)", for: own)
                        let found = try await router.get(own)
                        #expect(found == "\(count)")
                        try await router.batch { changes in
                            for part in 0..<3 { try changes.set("\(count)", for: textKey("b\(worker)-\(part)")) }
                        }
                        let parts = try await [0, 1, 2].asyncMap { try await router.get(textKey("b\(worker)-\($0)")) }
                        #expect(parts == Array(repeating: "\(count)", count: 3))
                    }
                    return count
                }
            }
            let other = try files.router()
            for round in 0..<20 {
                _ = try await other.switchStore(of: ["userDefaults"], to: round % 2 == 0 ? "two" : "one")
            }
            stop.isSet.store(true, ordering: .relaxed)
            var sum = 0
            for try await count in group { sum += count }
            #expect(try await router.get(counter) == sum)
        }
    }
}

private final class Stop: Sendable { let isSet = Atomic(false) }

extension Array {
    fileprivate func asyncMap<Mapped>(_ transform: (Element) async throws -> Mapped) async rethrows -> [Mapped] {
        var mapped: [Mapped] = []
        for element in self { mapped.append(try await transform(element)) }
        return mapped
    }
}

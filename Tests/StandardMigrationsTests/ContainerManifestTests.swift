import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@testable import MigrationManifest

private struct Written: UserDefaultsContainer {
    static let prefix = "MyApp."
    static let version = 4
    static let versionKey = ContainerVersionKey("W.__version", formerly: [.shared])
    static let formerNames = ["Old"]
    static let otherKeys: [ContainerKey] = ["left", "Other.__version"]
    static let steps = [
        ContainerStep(
            from: 1, to: 2, [.swap("a", "b"), .rename(.stored("plain"), to: "c"), .setDefault("d", [1, "x"])]),
        ContainerStep(from: 2, to: 3, prefix: "P.", name: "N", [.movePrefix("x.", to: "y."), .remove("e")]),
        ContainerStep(from: 3, to: 4) { _ in },
    ]
    @Setting var a = "one"
    @Setting(key: "bee") var b = 2
}

@Suite("containers of manifests") struct ContainerManifestTests {
    private static let containers = #"""
        [{"name":"MySettings","domain":"rows","prefix":"MyApp.","version":3,
          "properties":[{"name":"username","type":"String"},{"name":"a"},{"name":"b"},{"name":"size"}],
          "steps":[{"from":1,"to":2,"changes":[{"rename":{"from":"userName","to":"username"}},
                                               {"renames":[{"from":"a","to":"b"},{"from":"b","to":"a"}]}]},
                   {"from":2,"to":3,"changes":[{"prefix":{"from":"Old.","to":"MyApp.MySettings."}},
                                               {"remove":"gone"},{"default":{"key":"size","value":5}},
                                               {"move":{"from":"cache","to":"userDefaults/Cache.size"}}]}]}]
        """#

    private func text(_ containers: String) -> String {
        "migrations: { packs: { ours: { component: \"standard\", options: { containers: \(containers) } } } }"
    }

    private func read(_ text: String) -> StorageError? {
        do throws(StorageError) {
            _ = try Manifest(Array(text.utf8), of: "m.json")
            return nil
        } catch { return error }
    }

    @Test("a manifest that an app writes is read unchanged, except for steps that only the app can run")
    func roundTrip() throws {
        let data = try ContainerManifest(of: [Written.self]).encoded()
        let manifest = try Manifest([UInt8](data), of: "m.json")
        let chain = try #require(manifest.containers.first)
        #expect(chain.container == Written.definition)
        #expect(chain.steps.map(\.changes) == Written.steps.map(\.changes))
        #expect(chain.steps.map(\.prefix) == [nil, "P.", nil])
        #expect(try ContainerManifest(manifest.containers).encoded() == data)
        let error = #expect(throws: StorageError.self) { try manifest.requireDeclared() }
        #expect(error?.message.contains("the step 3 -> 4 is programmed in the app") == true)
    }

    private struct Unordered: UserDefaultsContainer {
        @Setting var names: Set<String> = []
        @Setting var groups: [String: Set<Int>] = [:]

        init() {
            // A set's order depends on its capacity, too.
            let size = Int.random(in: 8...10_000)
            var names = Set<String>(minimumCapacity: size)
            for name in ["a", "b", "c", "d", "e", "f", "g", "h"].shuffled() { names.insert(name) }
            _names = Setting(wrappedValue: names)
            var numbers = Set<Int>(minimumCapacity: size)
            for number in (0..<8).shuffled() { numbers.insert(number) }
            _groups = Setting(wrappedValue: ["one": numbers])
        }
    }

    @Test("a set as the default has the same bytes in every manifest")
    func unordered() throws {
        let texts = try (0..<20).map { _ in
            String(decoding: try ContainerManifest(of: [Unordered.self]).encoded(), as: UTF8.self)
        }
        #expect(Set(texts).count == 1)
    }

    @Test("a pack takes a container from version to version, and has nothing to do then")
    func run() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let router = try home.router(text(Self.containers))
        for (name, value) in ["userName": "\"alice\"", "a": "1", "b": "2", "gone": "0", "cache": "9"] {
            try await router.put(value, at: "rows/MyApp.MySettings.\(name)")
        }
        try await router.put("\"x\"", at: "rows/Old.x")
        let plan = try await router.migrations.plan()
        let ids = ["version", "2", "3"].map { "container rows/MySettings \($0)" }
        #expect(plan.entries.map(\.migration) == ids)
        #expect(plan.entries.map(\.decision) == [.nothingToDo, .run, .run])
        #expect(try await router.migrate().failures.isEmpty)
        #expect(
            try await router.names(in: .custom(name: "rows"), prefix: "")
                == ["__version", "a", "b", "size", "username", "x"].map { "MyApp.MySettings.\($0)" })
        #expect(try await router.text(at: "rows/MyApp.MySettings.a") == "2")
        #expect(try await router.text(at: "rows/MyApp.MySettings.__version") == "3")
        #expect(try await router.text(at: "userDefaults/Cache.size") == "9")
        let again = try await home.router(text(Self.containers)).migrate()
        #expect(again.entries.allSatisfy { $0.outcome == .nothingToDo }, "\(again.entries)")
        try await router.migrations.rollback(ids[2])
        try await router.migrations.rollback(ids[1])
        #expect(try await router.text(at: "rows/MyApp.MySettings.userName") == "\"alice\"")
        #expect(try await router.migrate().failures.isEmpty)
        #expect(try await router.text(at: "rows/MyApp.MySettings.__version") == "3")
    }

    @Test("a pack stamps a new container, and refuses one that a later pack has migrated")
    func stamp() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let router = try home.router(text(Self.containers))
        #expect(try await router.migrate().failures.isEmpty)
        #expect(try await router.names(in: .custom(name: "rows"), prefix: "") == ["MyApp.MySettings.__version"])
        try await router.put("4", at: "rows/MyApp.MySettings.__version")
        let report = try await router.migrate()
        #expect(report.failures.first?.error?.code == .newerRevision, "\(report.entries)")
    }

    @Test(
        "mistakes are named with their places",
        arguments: [
            (#"{"containers":[{"version":2}]}"#, "m.json:1:16: container 1: 'name' is missing"),
            (#"{"containers":[{"name":"A","version":3,"steps":[{"from":1,"to":2}]}]}"#, "no step 2 -> 3"),
            (#"{"containers":[{"name":"A","steps":[{"from":1,"to":3}]}]}"#, "has the step 1 -> 3"),
            (#"{"containers":[{"name":"A"},{"name":"A"}]}"#, "two containers with this name"),
            (#"{"containers":[{"name":"A","version":0}]}"#, "container 'A', version: expected a whole number"),
            (
                #"{"containers":[{"name":"A","version":2,"steps":[{"from":1,"to":2,"changes":[{"rnam":1}]}]}]}"#,
                "unknown member 'rnam'"
            ),
            (#"{"containers":[{"name":"A","properties":[{"name":"__version"}]}]}"#, "reserved for versions"),
            (
                #"{"containers":[{"name":"A","versionKey":"v"},{"name":"B","versionKey":"v"}]}"#,
                "container 'B': its version key, 'v', is also that of the container 'A'"
            ),
            (
                #"{"containers":[{"name":"A","version":2,"steps":[{"from":1,"to":2,"changes":[{"remove":"A.__version"}]}]}]}"#,
                "the step 1 -> 2, which changes 'userDefaults/A.__version', a name that is reserved for versions"
            ),
            (
                #"""
                {"containers":[{"name":"A","version":2,"steps":[{"from":1,"to":2,"changes":[
                {"renames":[{"from":"a","to":"b"},{"from":"c","to":"b"}]}]}]}]}
                """#,
                "the step 1 -> 2, which moves 'userDefaults/A.a' and 'userDefaults/A.c' to 'userDefaults/A.b'; a key has one value"
            ),
            (
                #"""
                {"containers":[{"name":"A","version":2,"properties":[{"name":"username"}],
                "steps":[{"from":1,"to":2,"changes":[{"rename":{"from":"userName","to":"usernme"}}]}]}]}
                """#,
                "to 'userDefaults/A.usernme', the key of no setting, so nothing would read it; did you mean 'username'"
            ),
            (#"{"steps":[{"id":"a"}]}"#, "m.json:1:11: step 'a': has no action"),
        ])
    func mistakes(_ text: String, _ message: String) {
        #expect(read(text)?.message.contains(message) == true, "\(String(describing: read(text)))")
    }
}

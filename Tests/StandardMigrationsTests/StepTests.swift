import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@testable import MigrationManifest

@Suite("steps of a manifest on real stores", .timeLimit(.minutes(3))) struct StepTests {
    @Test(
        "a value moves to another key unchanged, between any two stores, once",
        arguments: ["rows", "userDefaults:suite"], ["rows", "fileSystem", "keychain:tests", "encryptedFileSystem"])
    func moves(_ source: String, _ destination: String) async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let router = try home.router()
        let kind = source == destination ? "rename" : "move"
        let manifest = try Manifest(
            text: "[{\"id\":\"x\",\"\(kind)\":{\"from\":\"\(source)/a b\",\"to\":\"\(destination)/c\"}}]")
        let bytes = Data((0...255).map { UInt8($0) })
        let key = AnyStorageKey(try StorageKeyDescriptor(address: "\(source)/a b"))
        #expect(try await router.run(manifest)["x"]?.outcome == .nothingToDo)
        try await router.setData(bytes, for: key)
        #expect(try await router.run(manifest)["x"]?.outcome == .migrated)
        let moved = AnyStorageKey(try StorageKeyDescriptor(address: "\(destination)/c"))
        for router in [router, try home.router()] {
            #expect(try await router.data(for: moved) == bytes)
            #expect(try await !router.exists(key))
            #expect(try await router.run(manifest)["x"]?.outcome == .nothingToDo)
        }
    }

    @Test("a value at the destination stays, is replaced, or is an error, by the step's policy; nothing is lost")
    func conflicts() async throws {
        for (policy, outcome, left, right) in [
            ("keepDestination", MigrationOutcome.destinationKept, "new" as String?, "old"),
            ("takeSource", .migrated, nil, "new"), ("fail", .failed, "new", "old"),
        ] {
            let home = try ManifestHome()
            defer { home.remove() }
            let router = try home.router()
            try await router.put("new", at: "rows/a")
            try await router.put("old", at: "rows/b")
            let manifest = try Manifest(
                text: """
                    [{"id":"x","rename":{"from":"rows/a","to":"rows/b"},"onConflict":"\(policy)"}]
                    """)
            #expect(try await router.run(manifest)["x"]?.outcome == outcome)
            #expect(try await router.text(at: "rows/a") == left)
            #expect(try await router.text(at: "rows/b") == right)
        }
    }

    @Test("steps run in their order, and a get of the last key runs them too")
    func chain() async throws {
        let manifest = try Manifest(
            text: """
                [{"id":"y","move":{"from":"rows/b","to":"fileSystem/c"},"after":["x"]},
                 {"id":"x","rename":{"from":"rows/a","to":"rows/b"}}]
                """)
        let home = try ManifestHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.put("value", at: "rows/a")
        for migration in manifest.migrations { try await router.registerMigration(migration) }
        let last = StorageKey<Data>(
            name: "c", domain: .fileSystem(), security: .none, serializer: .data, owner: "tests", description: "last")
        #expect(try await router.get(last) == Data("value".utf8))
        #expect(try await router.run(manifest).mapValues(\.outcome) == ["x": .nothingToDo, "y": .nothingToDo])
    }

    @Test("a key is removed once, and a value that is stored there later stays")
    func removal() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(text: #"[{"id":"x","remove":"rows/a"}]"#)
        let router = try home.router()
        #expect(try await router.run(manifest)["x"]?.outcome == .nothingToDo)
        try await router.put("old", at: "rows/a")
        #expect(try await router.run(manifest)["x"]?.outcome == .migrated)
        #expect(try await router.text(at: "rows/a") == nil)
        try await router.put("new", at: "rows/a")
        #expect(try await home.router().run(manifest)["x"]?.outcome == .nothingToDo)
        #expect(try await router.text(at: "rows/a") == "new")
    }

    @Test("a new key gets its first value, which the step neither changes nor restores")
    func defaultValue() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(
            text: #"""
                [{"id":"x","default":{"key":"rows/a","value":{"n":12345678901234567890.10}}},
                 {"id":"y","default":{"key":{"address":"rows/b","serializer":"plist"},"value":["p"]}},
                 {"id":"z","default":{"key":{"address":"rows/c","serializer":"data"},"value":"raw"}}]
                """#)
        let router = try home.router()
        try await router.put("mine", at: "rows/c")
        #expect(
            try await router.run(manifest).mapValues(\.outcome) == [
                "x": .migrated, "y": .migrated, "z": .nothingToDo,
            ])
        #expect(try await router.text(at: "rows/a") == #"{"n":12345678901234567890.10}"#)
        let list = StorageKey<[String]>(
            name: "b", domain: .custom(name: "rows"), security: .none, serializer: .plist, owner: "tests",
            description: "b")
        #expect(try await router.get(list) == ["p"])
        #expect(try await router.text(at: "rows/c") == "mine")
        try await router.remove(list)
        #expect(try await home.router().run(manifest)["y"]?.outcome == .nothingToDo)
        #expect(try await !router.exists(list))
    }

    struct Profile: Codable, Equatable, Sendable {
        var name = "Ann", scores = [1, 2], ratio = 0.5, born = Date(timeIntervalSinceReferenceDate: 1.5)
        var picture = Data([1, 2, 3])
    }

    private func profile(_ name: String, _ serializer: Serializer<Profile>) -> StorageKey<Profile> {
        StorageKey(
            name: name, domain: .custom(name: "rows"), security: .none, serializer: serializer, owner: "tests",
            description: "a profile")
    }

    @Test("a value is written in the other format, at another key or in place, and only as long as it has the old one")
    func reencoding() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(
            text: #"""
                [{"id":"x","reencode":{"from":{"address":"rows/a","serializer":"plist"},
                                       "to":{"address":"rows/b","serializer":"json"}}},
                 {"id":"y","reencode":{"from":{"address":"rows/c","serializer":"plist"},
                                       "to":{"address":"rows/c","serializer":"json"}}},
                 {"id":"z","reencode":{"from":{"address":"rows/d","serializer":"json"},
                                       "to":{"address":"rows/d","serializer":"plist"}}}]
                """#)
        let router = try home.router()
        for name in ["a", "c"] { try await router.set(Profile(), for: profile(name, .plist)) }
        try await router.put(#"{"list":[1,2.5,"x"]}"#, at: "rows/d")
        #expect(try await router.run(manifest).values.allSatisfy { $0.outcome == .migrated })
        #expect(try await router.get(profile("b", .json)) == Profile())
        #expect(try await router.get(profile("c", .json)) == Profile())
        #expect(try await router.attributes(of: AnyStorageKey(profile("c", .json)))?.serializer == "json")
        let data = try #require(try await router.data(for: AnyStorageKey(StorageKeyDescriptor(address: "rows/d"))))
        #expect(data.starts(with: "bplist00".utf8))
        let again = try home.router()
        #expect(try await again.run(manifest).values.allSatisfy { $0.outcome == .nothingToDo })
        #expect(try await again.get(profile("c", .json)) == Profile())
    }

    @Test("a value in place that cannot be written in the other format stays unchanged")
    func refusedReencoding() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(
            text: #"""
                [{"id":"x","reencode":{"from":{"address":"rows/a","serializer":"json"},
                                       "to":{"address":"rows/a","serializer":"plist"}}}]
                """#)
        let router = try home.router()
        for (text, reason) in [(#"{"a":null}"#, "'/a' is null"), ("{", "is not JSON"), ("", "is not JSON")] {
            try await router.put(text, at: "rows/a")
            let entry = try #require(try await router.run(manifest)["x"])
            #expect(entry.outcome == .failed && entry.error?.message.contains(reason) == true)
            #expect(entry.error?.message.contains("'rows/a'") == true)
            #expect(try await router.text(at: "rows/a") == text)
        }
    }

    private static let mapping = #"""
        [{"id":"x","when":{"dataVersion":"<2.0.0"},
          "map":{"from":"rows/a","fields":[{"rename":"/n","to":"name"},{"set":"/v","value":2}]}},
         {"id":"y","map":{"from":"rows/b","to":{"address":"keychain:s/b","serializer":"plist"},
          "fields":[{"cast":"/n","to":"string"},{"default":"/m","value":"m"}]}}]
        """#

    @Test("members change in place for the versions that wrote them the old way, and while they move to another key")
    func mapping() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(text: Self.mapping)
        let old = try home.router(version: "1.4")
        try await old.put(#"{"n":1.10,"big":12345678901234567890123}"#, at: "rows/a")
        try await old.put(#"{"n":5}"#, at: "rows/b")
        let router = try home.router(version: "2.0.0")
        #expect(try await router.run(manifest).mapValues(\.outcome) == ["x": .migrated, "y": .migrated])
        #expect(try await router.text(at: "rows/a") == #"{"big":12345678901234567890123,"name":1.10,"v":2}"#)
        let moved = StorageKey<[String: String]>(
            name: "b", domain: .keychain(service: "s"), security: .keychain(accessibility: .whenUnlocked),
            serializer: .plist, owner: "tests", description: "moved")
        #expect(try await router.get(moved) == ["n": "5", "m": "m"])
        #expect(try await home.router(version: "2.0.0").run(manifest)["x"]?.outcome == .nothingToDo)
    }

    @Test("a value that the current app writes first does not count as old; an unknown version is an error")
    func versions() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(text: Self.mapping)
        let now = try home.router(version: "2.0.0")
        try await now.put(#"{"name":"x","v":2}"#, at: "rows/a")
        #expect(try await now.run(manifest)["x"]?.outcome == .nothingToDo)
        #expect(try await now.text(at: "rows/a") == #"{"name":"x","v":2}"#)
        let unnamed = try home.router()
        try await unnamed.put(#"{"n":"x"}"#, at: "rows/a")
        let entry = try #require(try await unnamed.run(manifest)["x"])
        #expect(entry.outcome == .failed && entry.error?.code == .conditionalMigrationFailed)
        #expect(entry.error?.message.contains("ld-host config set migrations.dataVersion VERSION") == true)
        let told = try home.router(version: "2.0.0", "migrations: { dataVersion: \"1.0\" }")
        #expect(try await told.run(manifest)["x"]?.outcome == .migrated)
        let running = try Manifest(text: #"[{"id":"gone","remove":"rows/a","when":{"appVersion":">=2.0 <3"}}]"#)
        #expect(try await home.router(version: "3.0").run(running)["gone"]?.outcome == .nothingToDo)
        #expect(try await home.router(version: "two").run(running)["gone"]?.error?.code == .conditionalMigrationFailed)
        #expect(try await home.router(version: "2.9").run(running)["gone"]?.outcome == .migrated)
    }

    @Test("a member that does not fit fails the step with its position, and the value stays where it is")
    func refusedMapping() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(
            text: #"[{"id":"x","map":{"from":"rows/a","to":"rows/b","fields":[{"rename":"/n","to":"m"}]}}]"#)
        let router = try home.router()
        for (text, reason) in [
            (#"{"secret":1}"#, "'/n' is missing"), ("[1]", "'/n' is missing"), ("secret", "is not JSON"),
            (#"{"n":1,"m":2}"#, "'/m' has a value"), (#"{"n":1,"n":2}"#, "a member is given twice"),
        ] {
            try await router.put(text, at: "rows/a")
            let message = try #require(try await router.run(manifest)["x"]?.error?.message)
            #expect(message.contains(reason) && message.contains("'rows/a'") && !message.contains("secret"))
            #expect(try await router.text(at: "rows/a") == text)
            #expect(try await router.text(at: "rows/b") == nil)
        }
    }

    @Test("several keys become one value by a template, and are gone")
    func aggregation() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(
            text: #"""
                [{"id":"x","aggregate":{"to":"fileSystem/settings","template":{
                  "theme":{"$key":"rows/theme","default":"system"},
                  "notify":{"$key":{"address":"rows/notify","serializer":"plist"},"pointer":"/on"},
                  "list":[{"$key":"userDefaults/size"},7.50],"version":2}}}]
                """#)
        let router = try home.router()
        let notify = StorageKey<[String: Bool]>(
            name: "notify", domain: .custom(name: "rows"), security: .none, serializer: .plist, owner: "tests",
            description: "whether to notify")
        #expect(try await router.run(manifest)["x"]?.outcome == .nothingToDo)
        try await router.set(["on": true], for: notify)
        #expect(
            try await router.run(manifest)["x"]?.error?.message.contains("'userDefaults/size' is not stored") == true)
        #expect(try await router.exists(notify))
        try await router.put("12.50", at: "userDefaults/size")
        #expect(try await router.run(manifest)["x"]?.outcome == .migrated)
        #expect(
            try await router.text(at: "fileSystem/settings")
                == #"{"theme":"system","notify":true,"list":[12.50,7.50],"version":2}"#)
        #expect(try await !router.exists(notify))
        #expect(try await router.text(at: "userDefaults/size") == nil)
        #expect(try await home.router().run(manifest)["x"]?.outcome == .nothingToDo)
    }

    @Test("parts of a source that the template omits are not lost, unless the step says so")
    func rest() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let router = try home.router()
        func manifest(_ more: String) throws -> Manifest {
            try Manifest(
                text:
                    #"[{"id":"x","aggregate":{"to":"rows/b","template":[{"$key":"rows/a","pointer":"/x/0"}]\#(more)}}]"#
            )
        }
        try await router.put(#"{"x":[1],"y":"secret"}"#, at: "rows/a")
        let message = try #require(try await router.run(manifest(""))["x"]?.error?.message)
        #expect(message.contains("'rows/a' has '/y'") && !message.contains("secret"))
        #expect(try await router.text(at: "rows/a") == #"{"x":[1],"y":"secret"}"#)
        #expect(try await router.run(manifest(#","discardRest":true"#))["x"]?.outcome == .migrated)
        #expect(try await router.text(at: "rows/b") == "[1]")
    }

    @Test("all keys of a prefix move to another namespace and format, and a rollback restores them")
    func prefixes() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let manifest = try Manifest(
            text: #"""
                [{"id":"x","move":{"from":"userDefaults/old.*","to":"rows/new.*"}},
                 {"id":"y","reencode":{"from":{"prefix":"rows/new.","serializer":"json"},
                                       "to":{"prefix":"fileSystem/p.","serializer":"plist"}},"after":["x"]}]
                """#)
        let router = try home.router()
        for number in 0..<20 { try await router.put("[\(number)]", at: "userDefaults/old.\(number)") }
        try await router.put("stays", at: "userDefaults/older")
        for migration in manifest.bulkMigrations { try await router.registerMigration(migration) }
        #expect(try await router.runMigration("y").migratedCount == 20)
        #expect(try await router.runMigration("y").outcome == .nothingToDo)
        for number in 0..<20 {
            #expect(try await router.text(at: "userDefaults/old.\(number)") == nil)
            #expect(try await router.text(at: "rows/new.\(number)") == nil)
            let moved = StorageKey<[Int]>(
                name: "p.\(number)", domain: .fileSystem(), security: .none, serializer: .plist, owner: "tests",
                description: "moved")
            #expect(try await router.get(moved) == [number])
        }
        #expect(try await router.text(at: "userDefaults/older") == "stays")
        for id in ["y", "x"] { try await router.migrations.rollback(id) }
        #expect(try await router.text(at: "userDefaults/old.7") == "[7]")
    }

    @Test("steps for prefixes are bulk migrations")
    func ranges() throws {
        let manifest = try Manifest(
            text: #"""
                [{"id":"x","prefix":{"from":"rows/old.*","to":"rows/new.*"}},
                 {"id":"y","move":{"from":"userDefaults/*","to":"keychain:s"},"onConflict":"fail","after":["x"]},
                 {"id":"z","reencode":{"from":{"prefix":"fileSystem/p.","serializer":"plist"},
                                       "to":{"prefix":"fileSystem/j.","serializer":"json"}}}]
                """#)
        #expect(manifest.migrations.isEmpty)
        let (prefix, move, reencode) = (
            manifest.bulkMigrations[0], manifest.bulkMigrations[1], manifest.bulkMigrations[2]
        )
        #expect(prefix.source.prefix == "old." && prefix.destination.prefix == "new." && !prefix.changesValues)
        #expect(move.destination.domain == .keychain(service: "s") && move.destination.prefix == "")
        #expect(move.dependencies == ["x"] && move.conflictPolicy == .fail)
        #expect(reencode.changesValues && reencode.destination.serializer == .json)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let converted = try reencode.convert(try encoder.encode(["a": 1]), named: "p.x")
        #expect(String(decoding: converted, as: UTF8.self) == #"{"a":1}"#)
        let error = try #require(throws: MigrationError.self) { try reencode.convert(Data(), named: "p.x") }
        #expect(error.message.contains("/p.x'"))
    }
}

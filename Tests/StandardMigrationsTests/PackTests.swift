import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import Testing

@testable import MigrationManifest

@Suite("the built pack", .timeLimit(.minutes(3))) struct PackTests {
    private func text(_ options: String) -> String {
        "migrations: { packs: { ours: { component: \"standard\", options: { \(options) } } } }"
    }

    private static let steps = #"""
        [{"id":"rename","rename":{"from":"rows/a","to":"rows/b"}},
         {"id":"map","map":{"from":"rows/b","to":"keychain:s/c","fields":[{"rename":"/n","to":"name"}]},"after":["rename"]},
         {"id":"new","default":{"key":"rows/new","value":{"big":9007199254740993}}},
         {"id":"gone","remove":"rows/gone"},
         {"id":"all","aggregate":{"to":"rows/all","template":[{"$key":"userDefaults/x"}]}}]
        """#

    private func run(_ home: ManifestHome, _ options: String) async throws {
        let router = try home.router(text(options))
        try await router.put(#"{"n":1.10}"#, at: "rows/a")
        try await router.put("old", at: "rows/gone")
        try await router.put("5", at: "userDefaults/x")
        let keys = try Manifest(text: Self.steps).migrations.map(\.destinationKey)
        let report = try await router.migrate(keys)
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(report.entries.allSatisfy { $0.outcome == .migrated }, "\(report.entries)")
        #expect(report.entries.count == 5)
        #expect(try await router.text(at: "keychain:s/c") == #"{"name":1.10}"#)
        #expect(try await router.text(at: "rows/new") == #"{"big":9007199254740993}"#)
        #expect(try await router.text(at: "rows/all") == "[5]")
        #expect(try await router.text(at: "rows/gone") == nil)
        let again = try await home.router(text(options)).migrate(keys)
        #expect(again.entries.map(\.outcome) == Array(repeating: .nothingToDo, count: 5))
    }

    @Test("a manifest in the configuration runs")
    func configured() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        try await run(home, "manifest: \(Self.steps)")
    }

    @Test("a manifest in a file runs")
    func file() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        try await run(home, "file: \"\(try home.write(Self.steps))\"")
    }

    @Test("a moved value keeps its attributes, unless the manifest names a serializer")
    func attributes() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let steps = #"""
            [{"id":"rename","rename":{"from":"rows/a","to":"rows/b"}},
             {"id":"move","move":{"from":"userDefaults/c","to":"rows/d"}},
             {"id":"said","rename":{"from":{"address":"rows/e","serializer":"plist"},"to":"rows/f"}}]
            """#
        let keys = try Manifest(text: steps).migrations.map(\.destinationKey)
        let writer = try home.router(version: "1.5")
        for (address, format) in [("rows/a", SerializerFormat.json), ("userDefaults/c", .text), ("rows/e", .json)] {
            let key = AnyStorageKey(try StorageKeyDescriptor(address: address)).recording(format)
            try await writer.setData(Data("5".utf8), for: key)
        }
        let router = try home.router(version: "2.0", text("manifest: \(steps)"))
        let report = try await router.migrate(keys)
        #expect(report.entries.map(\.outcome) == [.migrated, .migrated, .migrated], "\(report.failures)")
        for (key, format) in zip(keys, [SerializerFormat.json, .text, .plist]) {
            let recorded = try #require(try await router.attributes(of: key))
            #expect(recorded.serializer == format.rawValue && recorded.contentType == format.contentType)
            #expect(recorded.appVersion == (format == .plist ? "2.0" : "1.5"))
        }
    }

    @Test("an invalid manifest is refused before anything is written; existing values can still be read")
    func refused() async throws {
        for (options, reason) in [
            (#"manifest: [{"id":"a","renmae":{}}]"#, "unknown member 'renmae'"),
            (#"file: "/nonexistent/manifest.json""#, "No such file"),
            (#"manifest: [], file: "/nonexistent/manifest.json""#, "both given"),
            ("manifest: 3", "expected list"),
        ] {
            let home = try ManifestHome()
            defer { home.remove() }
            try await home.router().put("value", at: "rows/a")
            let router = try home.router(text(options))
            #expect(try await router.text(at: "rows/a") == "value")
            let message = await #expect(throws: (any Error).self) {
                try await router.migrate([AnyStorageKey(StorageKeyDescriptor(address: "rows/b"))])
            }.map { "\($0)" }
            #expect(message?.contains(reason) == true, "\(message ?? "")")
        }
    }

    @Test("an option that no component can have makes the whole configuration invalid")
    func wrongConfiguration() async throws {
        let home = try ManifestHome()
        defer { home.remove() }
        let router = try home.router(text("manifest: { id: 1 }"))
        let error = await #expect(throws: StorageError.self) { try await router.text(at: "rows/a") }
        #expect(error?.message.contains("option 'manifest' of migration pack 'ours' is an object") == true)
    }
}

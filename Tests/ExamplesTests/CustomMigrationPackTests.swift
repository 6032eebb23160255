import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("The migration pack example")
struct CustomMigrationPackTests {
    private let preferences = StorageDomain.userDefaults(suite: "org.example.app")

    private func key<Value: Codable & Sendable>(_ name: String, as type: Value.Type = Value.self) -> StorageKey<Value> {
        StorageKey(
            name: name, domain: preferences, security: .none, owner: "tests", description: "a key of the example")
    }

    @Test("is built as a package of its own, and each kind of migration runs through a host that was built elsewhere")
    func migrates() async throws {
        let example = try BuiltExample("CustomMigrationPack")
        defer { example.remove() }
        try conforms(example)
        try await prepare(StorageRouter(configuration: try configuration(example, version: "1.4.0")))
        let router = StorageRouter(configuration: try configuration(example))

        // Each key is requested by itself: only the configuration says that there are migrations.
        let token = StorageKey<String>(
            name: "token", domain: .keychain(service: "org.example.app"),
            security: .keychain(accessibility: .afterFirstUnlock), owner: "tests", description: "the token")
        #expect(try await router.get(token) == "a token")
        #expect(try await router.get(key("theme")) == "dark")
        #expect(try await router.get(key("profile.v2")) == ["firstName": "Ada", "lastName": "King Lovelace"])
        // The hand-written one runs the aggregating one first.
        #expect(try await router.get(key("document")) == "[Serif] Dear reader")
        #expect(try await router.get(key("font", as: [String: AnyCodable].self)) == ["name": "Serif", "size": 14])
        #expect(try await router.get(key("starts")) == 6)
        #expect(try await router.forceMigration(for: key("telemetry", as: String.self)).outcome == .migrated)
        for name in ["token", "ui.theme", "profile", "font.size", "draft", "counter", "telemetry"] {
            #expect(try await !router.exists(key(name, as: String.self)), "\(name) is still there")
        }
        let record = try #require(try await router.migrationHistory(for: key("profile.v2", as: String.self)).first)
        #expect(record.id == "profile" && record.pack?.name == "app" && record.pack?.version == "1.0.0")
        // A second router finds all of it done.
        let again = StorageRouter(configuration: try configuration(example))
        #expect(try await again.forceMigration(for: key("document", as: String.self)).outcome == .nothingToDo)
    }

    private func conforms(_ example: BuiltExample) throws {
        let report = try example.run(
            BuiltProducts.host, "plugins", "test", "\(example.products)/libCustomMigrationPack.so")
        #expect(report.contains(", 0 failed,"), "\(report)")
    }

    private func configuration(_ example: BuiltExample, version: String = "2.0.0") throws -> HostConfiguration {
        try HostConfiguration(
            text: """
                { plugins: { path: ["\(example.products)/libCustomMigrationPack.so"] },
                  directories: { data: "\(example.folder)/data", cache: "\(example.folder)/cache",
                                 state: "\(example.folder)/state", config: "\(example.folder)/config" },
                  app: { id: "", version: "\(version)" },
                  migrations: {
                    packs: { app: { component: "custom-migrations", options: { font: "Serif" } } },
                  } }
                """)
    }

    /// Stores the data of version 1 of the app, through a router of that version.
    private func prepare(_ router: StorageRouter) async throws {
        for (name, text) in [
            ("token", "a token"), ("ui.theme", "dark"), ("draft", "<v1>Dear reader"), ("telemetry", "id"),
        ] { try await router.set(text, for: key(name)) }
        try await router.set(["name": "Ada King Lovelace"], for: key("profile"))
        try await router.set(14, for: key("font.size"))
        try await router.set(7, for: key("counter"))
    }
}

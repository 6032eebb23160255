internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The cost that versions of a type add to reading a value: a tag in the current version, and the converters in an
/// older one.
struct ChainCost {
    private struct V1: Codable, Equatable {
        var name: String
        var email: String
        var numbers: [Int]
    }
    private struct V2: Codable, Equatable {
        var name: String
        var email: String
        var numbers: [Int]
        var note: String
    }
    private struct V3: Codable, Equatable, VersionedValue {
        static let version = 3
        var name: String
        var email: String
        var numbers: [Int]
        var notes: [String]
    }

    let setting: Setting

    func run() async throws {
        let builder = DataMigrator<V3>.Builder(targetType: V3.self)
        builder
            .register(from: V1.self, to: V2.self) { V2(name: $0.name, email: $0.email, numbers: $0.numbers, note: "n") }
            .register(from: V2.self, to: V3.self) {
                V3(name: $0.name, email: $0.email, numbers: $0.numbers, notes: [$0.note])
            }
        let migrator = try builder.build()
        try await decoding(migrator)
        for (name, component, plugin, options) in [
            ("file", "file", "libFileStore.so", "{\"root\": \"\(setting.folder)/chains\"}"),
            ("SQLite", "sqlite", "libSQLiteStore.so", "{\"path\": \"\(setting.folder)/chains.sqlite\"}"),
        ] {
            let router = try setting.router(component, in: "\(setting.plugins)/\(plugin)", options: options)
            try await reading(name, router, migrator)
        }
    }

    private static let numbers = Array(0..<100)

    private func decoding(_ migrator: DataMigrator<V3>) async throws {
        let encoder = JSONEncoder()
        let old = try encoder.encode(V1(name: "Ada", email: "ada@example.com", numbers: Self.numbers))
        let new = try encoder.encode(V3(name: "Ada", email: "ada@example.com", numbers: Self.numbers, notes: ["n"]))
        let serializer = Serializer<V3>.json
        let times = try await Comparison.rounds(21) {
            try await Nanoseconds.each(1000) {
                for _ in 0..<1000 { _ = try await migrator.value(in: old, versionTag: "V1") }
            }
        } baseline: {
            try await Nanoseconds.each(1000) { for _ in 0..<1000 { _ = try serializer.decode(new) } }
        }
        Row("decoding a tagged value through two converters; decoding the last type", times, atMost: 1.3).print()
    }

    private func reading(_ name: String, _ router: StorageRouter, _ migrator: DataMigrator<V3>) async throws {
        let value = V3(name: "Ada", email: "ada@example.com", numbers: Self.numbers, notes: ["n"])
        let plain = Setting.key("plain", Serializer<V3>.json)
        let chained = StorageKey(
            name: "chained", domain: plain.domain, security: .none, owner: plain.owner, description: plain.description,
            migrator: migrator)
        for key in [plain, chained] { try await router.set(value, for: key) }
        func gets(_ key: StorageKey<V3>) async throws -> Double {
            try await Nanoseconds.each(2000) { for _ in 0..<2000 { _ = try await router.get(key) } }
        }
        let times = try await Comparison.rounds(21) {
            try await gets(chained)
        } baseline: {
            try await gets(plain)
        }
        Row("\(name) store: `get` of a key with versions, current one; without versions", times, atMost: 1.1).print()
    }
}

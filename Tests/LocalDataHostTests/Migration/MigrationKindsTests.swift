import FoundationEssentials
import LocalDataAPI
import Testing

@testable import LocalDataHost

@Suite("kinds of migrations between all kinds of stores", .timeLimit(.minutes(3))) struct MigrationKindsTests {
    static let pairs = MigrationHome.domains.flatMap { source in MigrationHome.domains.map { (source, $0) } }

    struct Old: Codable, Equatable, Sendable { var first: String, last: String }
    struct New: Codable, Equatable, Sendable { var name: String, theme: String? }

    /// Whether the destination suits the source: a protected value must not become plain.
    private func fits(_ source: StorageDomain, _ destination: StorageDomain) -> Bool {
        let plain = ["fileSystem", "rows"]
        return plain.contains(source.name) || !plain.contains(destination.name)
    }

    @Test("a value that was stored as text is migrated as text", arguments: pairs)
    func text(_ source: StorageDomain, _ destination: StorageDomain) async throws {
        guard fits(source, destination) else { return }
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        let old: StorageKey<String> = MigrationHome.key("old", source)
        try await router.setData(Data("dark".utf8), for: AnyStorageKey(old).recording(.text))
        #expect(try await router.get(old) == "dark")
        let new: StorageKey<String> = MigrationHome.key("new", destination) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
        let changed: StorageKey<String> = MigrationHome.key("changed", destination) {
            AnyStorageMigration(DefaultTransformingMigration(destinationKey: $0, sourceKey: new) { $0 + "er" })
        }
        #expect(try await router.get(new) == "dark")
        #expect(try await router.attributes(of: .key(new))?.serializer == "json")
        try await router.setData(Data("light".utf8), for: AnyStorageKey(new).recording(.text))
        #expect(try await router.get(changed) == "lighter")
    }

    @Test(
        "seed defect 3: each kind brings its data, removes the sources, and writes nothing when it is run again",
        arguments: pairs)
    func kinds(_ source: StorageDomain, _ destination: StorageDomain) async throws {
        guard fits(source, destination) else { return }
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router(version: "1.0")
        let (text, old) = (
            MigrationHome.key("text", source) as StorageKey<String>,
            MigrationHome.key("old", source, as: .plist) as StorageKey<Old>
        )
        let (theme, note) = (
            MigrationHome.key("theme", source) as StorageKey<String>,
            MigrationHome.key("note", source) as StorageKey<String>
        )
        try await router.set("moved", for: text)
        try await router.set(Old(first: "Ann", last: "Lee"), for: old)
        try await router.set("dark", for: theme)
        try await router.set("noted", for: note)
        let prefix = "a title: "
        let simple: StorageKey<String> = MigrationHome.key("simple", destination) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(text)))
        }
        let transformed: StorageKey<New> = MigrationHome.key("transformed", destination, as: .plist) {
            AnyStorageMigration(
                DefaultTransformingMigration(destinationKey: $0, sourceKey: old) {
                    New(name: "\($0.first) \($0.last)", theme: nil)
                })
        }
        let conditional: StorageKey<String> = MigrationHome.key("conditional", destination) {
            (key: StorageKey<String>) in
            AnyStorageMigration(
                AppVersionConditionalMigration(
                    destinationKey: key, minAppVersion: "2.0",
                    fallbackMigration: AnyStorageMigration(
                        DefaultTransformingMigration(destinationKey: key, sourceKey: note) { prefix + $0 })))
        }
        let now = try home.router(version: "3.0")
        #expect(try await now.get(simple) == "moved")
        #expect(try await now.get(transformed) == New(name: "Ann Lee", theme: nil))
        #expect(try await now.get(conditional) == "a title: noted")
        let aggregated: StorageKey<New> = MigrationHome.key("aggregated", destination) {
            AnyStorageMigration(
                DefaultAggregatingMigration(
                    destinationKey: $0, sourceKeys: [.key(transformed), .key(theme), .key(simple)]
                ) { sources in
                    #expect(sources.names == ["transformed", "theme", "simple"])
                    var value = try #require(try sources.value(of: transformed))
                    value.theme = try sources.value(of: theme)
                    return value
                })
        }
        // The sources of this kind are the destinations of the others.
        let isAllowed = fits(destination, destination) && fits(source, destination)
        if isAllowed { #expect(try await now.get(aggregated) == New(name: "Ann Lee", theme: "dark")) }
        for key in [AnyStorageKey.key(text), .key(old), .key(note), .key(theme), .key(simple), .key(transformed)] {
            #expect(try await !now.exists(key), "\(key.descriptor.name)")
        }
        #expect(try await now.migrationHistory(for: aggregated).map(\.state) == [.clean])
        let before = home.files
        for router in [now, try home.router(version: "3.0")] {
            for key in [AnyStorageKey.key(conditional), .key(aggregated)] {
                #expect(try await router.forceMigration(for: key).outcome == .nothingToDo)
            }
        }
        #expect(home.files == before)
        #expect(home.home.files("state").keys.filter { $0.hasSuffix(".intent") } == [])
        let another = try home.router()
        #expect(try await another.get(aggregated) == New(name: "Ann Lee", theme: "dark"))
        #expect(try await another.get(conditional) == "a title: noted")
    }
}

import FoundationEssentials
import LocalDataAPI
import Testing

@testable import HostPlugins
@testable import LocalDataHost

/// A migration pack of the tests: each migration tests one thing across the boundary.
struct LinkedPack: MigrationPack {
    static let component = ComponentInfo(
        id: "linked-pack", summary: "migrations of the tests",
        options: [.string("mark", default: "none", help: "what 'telling' writes")])

    private let mark: String

    init(options: ComponentOptions, host: HostServices) throws { mark = try options.string("mark") }

    static func key(_ name: String, security: SecurityPolicy = .none) -> StorageKey<String> {
        StorageKey(
            name: name, domain: .custom(name: "own", scope: "a/b%"), security: security, owner: "the pack",
            description: "a key of a pack")
    }

    var migrations: [AnyStorageMigration] {
        [
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: Self.key("new"), sourceKey: .key(Self.key("old")))),
            scripted("telling", sources: []) { router, context in
                let preference = context.userPreferences["theme"]?.value as? String ?? "?"
                let told = [
                    mark, context.appVersion ?? "?", context.dataVersion ?? "?", context.deviceInfo.role.rawValue,
                    preference, "\(context.systemInfo.availableDiskSpace > 0)",
                ]
                try await router.set(told.joined(separator: " "), for: Self.key("telling"))
                return MigrationResult(success: true, migratedCount: 3, metadata: ["told": .init(.int(6))])
            },
            scripted("storage error") { _, _ in
                throw StorageError(.noSpace, "the moon is full", hint: "empty it")
            },
            scripted("migration error") { _, _ in
                throw MigrationError(
                    .aggregationFailed, "two and two", underlying: StorageError(.corrupt, "a cat", hint: "feed it"))
            },
            scripted("no success") { _, _ in
                MigrationResult(success: false, errors: [MigrationError(.decodingFailed, "no version fits")])
            },
            scripted("other error") { _, _ in throw CancellationError() },
            scripted("tasks") { router, _ in
                // Calls come from tasks of all kinds, at once.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask { try await router.set("\(number)", for: Self.key("part \(number)")) }
                        group.addTask { try await Self.lookOnMainActor(router, number) }
                    }
                    try await group.waitForAll()
                }
                async let first = router.get(Self.key("part 1"))
                let other = Task.detached { try await router.get(Self.key("part 2")) }
                let text = try await first + other.value
                try await router.set(text, for: Self.key("tasks"))
                return MigrationResult(success: true, migratedCount: 1)
            },
            scripted("hanging") { router, _ in
                try await router.set("staged", for: Self.key("hanging"))
                try await Task.sleep(for: .seconds(600))
                return MigrationResult(success: true)
            },
        ]
    }

    var bulkMigrations: [AnyBulkMigration] { [AnyBulkMigration(Upper())] }

    private func scripted(
        _ id: String, sources: [AnyStorageKey] = [], _ script: @escaping ScriptedMigration.Script
    ) -> AnyStorageMigration {
        AnyStorageMigration(
            ScriptedMigration(destinationKey: Self.key(id), id: id, sources: sources, script: script))
    }

    /// Converts text to upper case.
    private struct Upper: BulkMigration {
        let id = "upper"
        let summary = "shouts"
        let source = MigrationRange(domain: .custom(name: "own", scope: "low"), prefix: "a.", serializer: .data)
        let destination = MigrationRange(domain: .custom(name: "own", scope: "high"), prefix: "b.", serializer: .data)

        func convert(_ data: Data, named name: String) throws -> Data {
            guard !data.isEmpty else { throw MigrationError(.transformationFailed, "'\(name)' is empty") }
            return Data(String(decoding: data, as: UTF8.self).uppercased().utf8)
        }
    }

    @MainActor private static func lookOnMainActor(_ router: any StorageProviding, _ number: Int) async throws {
        _ = try await router.exists(key("part \(number)"))
    }

    static let table = Entry(Plugin.export("LinkedPack", version: "1.2.3", .migrations(LinkedPack.self)))

    /// A table that is never freed.
    struct Entry: @unchecked Sendable {
        let pointer: UnsafeRawPointer
        init(_ pointer: UnsafeRawPointer) { self.pointer = pointer }
    }
}

extension MigrationHome {
    /// A router with the pack of the tests.
    func packRouter(
        _ text: String = "", pack: String = "component: \"linked-pack\"", linked: Bool = true
    ) async throws -> StorageRouter {
        let router = try router("migrations: { packs: { ours: { \(pack) } } }, \(text)")
        if linked { try await router.registerPlugin(named: "LinkedPack", LinkedPack.table.pointer) }
        return router
    }
}

import FoundationEssentials
import LocalDataAPI

@testable import LocalDataHost

/// A folder with a store of every kind that migrations go between, and keys in each.
struct MigrationHome {
    /// The domains: plain files, a database, files that are encrypted by the keys' policy, and files that the host
    /// seals.
    static let domains: [StorageDomain] = [
        .fileSystem(), .custom(name: "rows"), .encryptedFileSystem(), .keychain(service: "tests"),
    ]

    let home: SealedHome

    init() throws { home = try SealedHome() }

    func remove() { home.remove() }

    /// A router that shares nothing with others but the folder, as processes do.
    func router(version: String? = nil, _ text: String = "") throws -> StorageRouter {
        let app = version.map { "app: { version: \"\($0)\" }," } ?? ""
        return try home.router(
            domains: "fileSystem: \"file\", rows: \"rows\"",
            """
            stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite" } } }, \(app) \(text)
            """)
    }

    /// A router that keeps values of all kinds of files and of settings in one database, and each folder of theirs in
    /// one of its own.
    func databases(_ text: String = "") throws -> StorageRouter {
        try home.router(
            domains: ["userDefaults", "fileSystem", "appGroupFileSystem", "rows"].map { "\($0): \"rows\"" }
                .joined(separator: ", "),
            """
            stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite" } } }, \(text)
            """)
    }

    /// The files of values, but for what is there only while the stores are open.
    var files: [String: Data] {
        home.files("data").filter { !$0.key.hasSuffix("-shm") && !$0.key.hasSuffix("-wal") }
    }

    /// A key whose protection is right for its domain.
    static func key<Value>(
        _ name: String, _ domain: StorageDomain, as serializer: Serializer<Value> = .json,
        migration: (@Sendable (StorageKey<Value>) -> AnyStorageMigration)? = nil
    ) -> StorageKey<Value> {
        let security: SecurityPolicy =
            switch domain {
            case .keychain: .keychain(accessibility: .afterFirstUnlock)
            case .encryptedFileSystem: .recommended
            default: .none
            }
        return StorageKey(
            name: name, domain: domain, security: security, serializer: serializer, owner: "tests",
            description: "a key for tests", migration: migration)
    }
}

extension MigrationError {
    /// The error that `body` throws.
    static func of<Value>(_ body: () async throws -> Value) async -> MigrationError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? MigrationError
        }
    }
}

/// A migration that runs what a test gives it.
struct ScriptedMigration: ConditionalMigration {
    typealias Script = @Sendable (any StorageProviding, MigrationContext) async throws -> MigrationResult

    let destinationKey: StorageKey<String>
    var id = "scripted"
    var revision = 1
    var sources: [AnyStorageKey] = []
    var dependencies: [String] = []
    var condition: @Sendable (any StorageProviding, MigrationContext) async throws -> Bool = { _, _ in true }
    let script: Script

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await condition(router, context)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult { try await script(router, context) }
}

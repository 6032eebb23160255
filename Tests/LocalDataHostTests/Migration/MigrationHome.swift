import FoundationEssentials
import LocalDataAPI

@testable import HostPlugins
@testable import LocalDataHost

/// A folder with every kind of store that migrations use, and keys for each.
struct MigrationHome {
    /// The domains: plain files, a database, files that the keys' policy encrypts, and files that the host seals.
    static let domains: [StorageDomain] = [
        .fileSystem(), .custom(name: "rows"), .encryptedFileSystem(), .keychain(service: "tests"),
    ]

    let home: SealedHome

    init() throws { home = try SealedHome() }

    func remove() { home.remove() }

    /// A router that shares only the folder with others, like a separate process.
    func router(version: String? = nil, _ text: String = "") throws -> StorageRouter {
        let app = version.map { "app: { version: \"\($0)\" }," } ?? ""
        return try home.router(
            domains: "fileSystem: \"file\", rows: \"rows\"",
            """
            stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite" } } }, \(app) \(text)
            """)
    }

    /// A router that keeps all domains of files and of settings in one database, and each folder in a separate one.
    func databases(_ text: String = "") throws -> StorageRouter {
        try home.router(
            domains: ["userDefaults", "fileSystem", "appGroupFileSystem", "rows"].map { "\($0): \"rows\"" }
                .joined(separator: ", "),
            """
            stores: { rows: { component: "sqlite", options: { path: "${data}/rows.sqlite" } } }, \(text)
            """)
    }

    /// The files of values, except those that exist only while the stores are open.
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

/// A migration that runs a test's code.
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

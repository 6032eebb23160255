import LocalDataAPI
import LocalDataHost
import Testing

// The samples of the first guide, as they are written today: keys and migrations that name each other say their types.

extension StorageKey where Value == String {
    fileprivate static let legacyToken: StorageKey<String> = StorageKey(
        name: "legacy_token", domain: .userDefaults(suite: nil), security: .none, serializer: .json,
        owner: "AuthService", description: "Legacy token stored in UserDefaults.")

    fileprivate static let modernToken: StorageKey<String> = StorageKey(
        name: "modern_token", domain: .keychain(service: "com.myapp"), owner: "AuthService",
        description: "Stores the current user auth token.",
        migration: { key in
            AnyStorageMigration(
                SimpleLegacyMigration(destinationKey: key, sourceKey: .key(StorageKey.legacyToken)))
        })

    fileprivate static let userToken: StorageKey<String> = StorageKey(
        name: "user_token", domain: .keychain(service: "com.myapp"), owner: "AuthService",
        description: "Stores the current user auth token.",
        migration: { _ in AnyStorageMigration(TokenMigration()) })
}

private struct TokenMigration: StorageMigration {
    typealias Value = String

    let destinationKey: StorageKey<String> = .userToken
    let legacyKey: StorageKey<String> = .legacyToken

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(legacyKey)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        let legacyToken = try await router.get(legacyKey)
        try await router.set(legacyToken, for: destinationKey)
        try await router.remove(legacyKey)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

private struct ProfileV1: Codable { let firstName: String, lastName: String }
private struct ProfileV2: Codable { let fullName: String }

extension StorageKey where Value == ProfileV1 {
    fileprivate static let profileV1: StorageKey<ProfileV1> = StorageKey(
        name: "profile", domain: .userDefaults(), security: .none, owner: "Profile", description: "The old profile.")
}

extension StorageKey where Value == ProfileV2 {
    fileprivate static let profileV2: StorageKey<ProfileV2> = StorageKey(
        name: "profile", domain: .encryptedFileSystem(), owner: "Profile", description: "The profile.",
        migration: { _ in AnyStorageMigration(ProfileUpgradeMigration()) })
}

private struct ProfileUpgradeMigration: TransformingMigration {
    let destinationKey: StorageKey<ProfileV2> = .profileV2
    let sourceKey: StorageKey<ProfileV1> = .profileV1

    func transform(_ source: ProfileV1) async throws -> ProfileV2 {
        ProfileV2(fullName: "\(source.firstName) \(source.lastName)")
    }
}

private struct UnifiedSettings: Codable { var notifications = false, theme = "system" }

extension StorageKey where Value == [String: Bool] {
    fileprivate static let notifications: StorageKey<[String: Bool]> = StorageKey(
        name: "notifications", domain: .userDefaults(), security: .none, serializer: .plist, owner: "Settings",
        description: "Whether to notify.")
}

extension StorageKey where Value == [String: String] {
    fileprivate static let theme: StorageKey<[String: String]> = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Settings", description: "The theme.")
}

extension StorageKey where Value == UnifiedSettings {
    fileprivate static let settings: StorageKey<UnifiedSettings> = StorageKey(
        name: "settings", domain: .userDefaults(), security: .none, owner: "Settings", description: "All settings.",
        migration: { _ in AnyStorageMigration(SettingsAggregationMigration()) })
}

private struct SettingsAggregationMigration: AggregatingMigration {
    let destinationKey: StorageKey<UnifiedSettings> = .settings
    let sourceKeys: [AnyStorageKey] = [.key(StorageKey.notifications), .key(StorageKey.theme)]

    func aggregate(_ sources: MigrationSources) async throws -> UnifiedSettings {
        var settings = UnifiedSettings()
        for source in sources {
            if let data = source.value as? [String: Any] {
                if let notifications = data["notifications"] as? Bool { settings.notifications = notifications }
                if let theme = data["theme"] as? String { settings.theme = theme }
            }
        }
        return settings
    }
}

private struct VersionBasedMigration: ConditionalMigration {
    let destinationKey: StorageKey<String> = .userToken

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        guard let version = context.appVersion.flatMap({ SemanticVersion($0) }) else { return false }
        return version < SemanticVersion("2.0.0") ?? version
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        MigrationResult(success: true)
    }
}

private struct MyCatalog: StorageKeyCatalog {
    let allKeys: [AnyStorageKey] = [
        .key(StorageKey.legacyToken), .key(StorageKey.modernToken), .key(StorageKey.settings),
        .key(StorageKey.profileV2),
    ]
}

@Suite("the samples of the guide", .timeLimit(.minutes(2))) struct MigrationSamplesTests {
    @Test("seed defect 1: the samples compile and do what the guide says")
    func samples() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("token", for: .legacyToken)
        #expect(try await router.get(.userToken) == "token")
        #expect(try await !router.exists(.legacyToken))
        try await router.set("token", for: .legacyToken)
        try await router.set(["notifications": true], for: .notifications)
        try await router.set(["theme": "dark"], for: .theme)
        try await router.set(ProfileV1(firstName: "Ann", lastName: "Lee"), for: .profileV1)
        let report = try await router.registerCatalog(MyCatalog(), migrateImmediately: true)
        #expect(report.failures.isEmpty && report.entries.count == 4)
        #expect(try await router.get(.modernToken) == "token")
        let settings = try await router.get(.settings)
        #expect(settings.notifications && settings.theme == "dark")
        #expect(try await router.get(.profileV2).fullName == "Ann Lee")
        let result = try await router.forceMigration(for: StorageKey.modernToken)
        #expect(result.success && result.outcome == .nothingToDo)
    }

    @Test("seed defect 20: the guide's condition applies to the source, not to the destination")
    func invertedCondition() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        await #expect(throws: StorageError.notFound) { try await router.get(.userToken) }
        try await router.set("token", for: .legacyToken)
        #expect(try await router.get(.userToken) == "token")
    }

    @Test("seed defect 40: a migration runs on any type that gives access to values")
    func anyProvider() async throws {
        let home = try MigrationHome()
        defer { home.remove() }
        let router = try home.router()
        try await router.set("token", for: .legacyToken)
        let provider: any StorageProviding = router
        #expect(try await TokenMigration().shouldMigrate(using: provider, context: MigrationContext()))
        #expect(try await TokenMigration().migrate(using: provider, context: MigrationContext()).success)
        #expect(try await router.get(.userToken) == "token")
        #expect(
            try await VersionBasedMigration().shouldMigrate(using: router, context: MigrationContext(appVersion: "1.9"))
        )
        #expect(
            try await !VersionBasedMigration().shouldMigrate(
                using: router, context: MigrationContext(appVersion: "2.0")))
    }
}

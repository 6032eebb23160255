import LocalDataAPI

/// Brings older data to the keys of today.
struct SwiftMigration: MigrationPack {
    static let component = ComponentInfo(id: "swift-migration", summary: "brings the data of version 1 to version 2")

    /// In the order in which they are meant to run. An id never changes its meaning; a change of what a
    /// migration does is a new revision of it.
    let migrations = [AnyStorageMigration(ThemeMigration()), AnyStorageMigration(CacheRemoval())]

    init(options: ComponentOptions, host: HostServices) {}
}

/// Renames a value. The router is a transaction: nothing takes effect before `migrate` has returned success.
struct ThemeMigration: StorageMigration {
    let destinationKey: StorageKey<String> = .theme
    let id = "theme"
    let summary = "renames oldTheme to theme"
    var sources: [AnyStorageKey] { [.key(.oldTheme)] }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(.oldTheme)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        try await router.set(try await router.get(.oldTheme), for: .theme)
        try await router.remove(.oldTheme)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

/// Removes what nobody needs any more.
struct CacheRemoval: StorageMigration {
    let destinationKey: StorageKey<String> = .cache
    let id = "no cache"
    let summary = "removes the cache"
    let effect = MigrationEffect.removes

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(.cache)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        try await router.remove(.cache)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

/// The keys as they were and are. A value is found by address, security and serializer together.
extension StorageKey where Value == String {
    static let oldTheme = preference("oldTheme", "the theme under its former name")
    static let theme = preference("theme", "the theme")
    static let cache = preference("cache", "what nobody needs any more")

    private static func preference(_ name: String, _ description: String) -> StorageKey<String> {
        StorageKey(
            name: name, domain: .userDefaults(), security: .none, owner: "SwiftMigration", description: description)
    }
}

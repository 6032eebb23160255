import LocalData

extension StorageKey where Value == String {
    static let token: StorageKey<String> = StorageKey(
        name: "token", domain: .keychain(service: "com.example.sample"),
        security: .keychain(accessibility: .afterFirstUnlock), owner: "Demo", description: "The session's token.",
        migration: { key in
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: key, sourceKey: .key(StorageKey.legacyToken)))
        })
}

extension StorageKey where Value == UserProfile {
    static let conditionalProfile: StorageKey<UserProfile> = StorageKey(
        name: "conditional_profile", domain: .keychain(service: "com.example.sample"),
        security: .keychain(accessibility: .afterFirstUnlock), owner: "Demo",
        description: "A profile that is brought only if a version before 2.0 wrote it.",
        migration: { _ in AnyStorageMigration(ConditionalProfileMigration()) })
    static let profile: StorageKey<UserProfile> = StorageKey(
        name: "profile", domain: .encryptedFileSystem(), owner: "Demo", description: "The profile.",
        migration: { _ in AnyStorageMigration(ProfileTransformMigration()) })
}

extension StorageKey where Value == UnifiedSettings {
    static let settings: StorageKey<UnifiedSettings> = StorageKey(
        name: "settings", domain: .fileSystem(), security: .none, owner: "Demo", description: "All settings.",
        migration: { _ in AnyStorageMigration(AggregatedSettingsMigration()) })
}

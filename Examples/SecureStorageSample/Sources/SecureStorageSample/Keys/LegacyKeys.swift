import LocalData

// Version 1 of the app stored these. Keys and migrations refer to each other, so each declares its type.

extension StorageKey where Value == String {
    static let legacyToken: StorageKey<String> = StorageKey(
        name: "legacy_token", domain: .userDefaults(), security: .none, owner: "Demo",
        description: "The session's token, in plain preferences.")
    static let themeSetting: StorageKey<String> = StorageKey(
        name: "theme_setting", domain: .userDefaults(), security: .none, owner: "Demo", description: "The theme.")
}

extension StorageKey where Value == UserProfileV1 {
    static let conditionalProfileV1: StorageKey<UserProfileV1> = StorageKey(
        name: "legacy_conditional_profile", domain: .userDefaults(), security: .none, serializer: .plist, owner: "Demo",
        description: "A profile that only version 1 wrote.")
    static let profileV1: StorageKey<UserProfileV1> = StorageKey(
        name: "profile_v1", domain: .userDefaults(), security: .none, owner: "Demo", description: "The old profile.")
}

extension StorageKey where Value == Bool {
    static let notificationsSetting: StorageKey<Bool> = StorageKey(
        name: "notifications_setting", domain: .userDefaults(), security: .none, owner: "Demo",
        description: "Whether to notify.")
    static let backupSetting: StorageKey<Bool> = StorageKey(
        name: "backup_setting", domain: .fileSystem(), security: .none, owner: "Demo",
        description: "Whether to back up.")
}

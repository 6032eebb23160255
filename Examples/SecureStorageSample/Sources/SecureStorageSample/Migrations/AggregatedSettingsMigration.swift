import LocalData

/// Combines three settings into one value. A setting that was never set gets its default.
struct AggregatedSettingsMigration: AggregatingMigration {
    let destinationKey: StorageKey<UnifiedSettings> = .settings
    let sourceKeys: [AnyStorageKey] = [
        .key(StorageKey.notificationsSetting), .key(StorageKey.backupSetting), .key(StorageKey.themeSetting),
    ]

    func aggregate(_ sources: MigrationSources) async throws -> UnifiedSettings {
        var settings = UnifiedSettings()
        if let value = try sources.value(of: .notificationsSetting) { settings.notifications = value }
        if let value = try sources.value(of: .backupSetting) { settings.autoBackup = value }
        if let value = try sources.value(of: .themeSetting) { settings.theme = value }
        return settings
    }
}

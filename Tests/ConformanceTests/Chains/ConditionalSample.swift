import LocalDataAPI
import LocalDataHost

/// "Conditional Migration", and "Handle Edge Cases".
enum ConditionalSample {
    enum Theme: String, Codable { case light, dark, auto }

    struct UserSettingsV2: Codable, Equatable {
        let theme: String
        let notifications: Bool
        let fontSize: Double?
    }

    struct UserSettings: Codable, Equatable, VersionedValue {
        static let version = 3
        let theme: Theme
        let notifications: Bool
        let fontSize: Double
    }

    struct Storage: VaultStorable {
        static let defaultValue = UserSettings(theme: .auto, notifications: true, fontSize: 16)

        static func configure(builder: DataMigrator<UserSettings>.Builder) {
            builder.register(from: UserSettingsV2.self, to: UserSettings.self) { v2 in
                // Conditional logic during migration
                let newTheme: Theme
                if v2.theme == "system" {
                    newTheme = .auto  // Migrate "system" to new "auto" option
                } else {
                    newTheme = Theme(rawValue: v2.theme) ?? .light
                }

                return UserSettings(
                    theme: newTheme,
                    notifications: v2.notifications,
                    // Add new field with intelligent default
                    fontSize: v2.fontSize ?? (DeviceInfo.current.platform == .linux ? 18.0 : 16.0)
                )
            }
            builder.assumeUntagged(UserSettingsV2.self)
        }
    }

    struct CarefulStorage: VaultStorable {
        static let defaultValue = Storage.defaultValue

        static func configure(builder: DataMigrator<UserSettings>.Builder) {
            builder.register(from: UserSettingsV2.self, to: UserSettings.self) { v2 in
                // Handle edge cases during migration
                let safeTheme = Theme(rawValue: v2.theme) ?? .light
                let safeFontSize = max(8.0, min(72.0, v2.fontSize ?? 16.0))

                return UserSettings(
                    theme: safeTheme,
                    notifications: v2.notifications,
                    fontSize: safeFontSize
                )
            }
            builder.assumeUntagged(UserSettingsV2.self)
        }
    }
}

import FoundationEssentials
import LocalDataAPI
import LocalDataHost

// The samples of seed 002, "Data Migration", as the guide on type chains adapts them. Each is in a namespace of its
// own, as the seed uses the same names again and again.

/// "Simple Migration".
enum SimpleSample {
    // Version 1 of your data
    struct UserSettingsV1: Codable, Equatable {
        let theme: String
    }

    // Version 2 with additional field
    struct UserSettingsV2: Codable, Equatable {
        let theme: String
        let notifications: Bool
    }

    // Storage definition with migration
    struct UserSettingsStorage: VaultStorable {
        typealias Value = UserSettingsV2
        static let defaultValue = UserSettingsV2(theme: "light", notifications: true)

        static func configure(builder: DataMigrator<UserSettingsV2>.Builder) {
            builder.register(from: UserSettingsV1.self, to: UserSettingsV2.self) { v1 in
                UserSettingsV2(theme: v1.theme, notifications: true)
            }
        }
    }
}

/// "Migration with Data Transformation".
enum TransformationSample {
    // Old format with string-based theme
    struct SettingsV1: Codable, Equatable {
        let theme: String  // "light" or "dark"
        let fontSize: Int
    }

    // New format with enum-based theme
    enum Theme: String, Codable {
        case light, dark, auto
    }

    struct SettingsV2: Codable, Equatable {
        let theme: Theme
        let fontSize: Double  // Changed from Int to Double
    }

    struct Storage: VaultStorable {
        static let defaultValue = SettingsV2(theme: .auto, fontSize: 12)

        // Migration with data transformation
        static func configure(builder: DataMigrator<SettingsV2>.Builder) {
            builder.register(from: SettingsV1.self, to: SettingsV2.self) { v1 in
                let newTheme: Theme
                switch v1.theme {
                case "light": newTheme = .light
                case "dark": newTheme = .dark
                default: newTheme = .auto
                }

                return SettingsV2(
                    theme: newTheme,
                    fontSize: Double(v1.fontSize)
                )
            }
            // {"theme": "dark", "fontSize": 12} is a SettingsV1 and a SettingsV2.
            builder.assumeUntagged(SettingsV1.self)
        }
    }
}

/// "Multi-Step Migration".
enum ChainSample {
    struct UserProfile: Codable, Equatable {
        let name: String
        let email: String
        static let `default` = UserProfile(name: "", email: "")
    }

    struct UserPreferences: Codable, Equatable {
        let values: [String: String]
        init(from values: [String: String]) { self.values = values }
        static let `default` = UserPreferences(from: [:])
    }

    // Version history
    struct UserDataV1: Codable, Equatable {
        let name: String
    }

    struct UserDataV2: Codable, Equatable {
        let name: String
        let email: String
    }

    struct UserDataV3: Codable, Equatable {
        let name: String
        let email: String
        let preferences: [String: String]
    }

    struct UserDataV4: Codable, Equatable {
        let profile: UserProfile
        let preferences: UserPreferences
    }

    // Complete migration chain
    struct UserDataStorage: VaultStorable {
        typealias Value = UserDataV4
        static let defaultValue = UserDataV4(
            profile: UserProfile.default,
            preferences: UserPreferences.default
        )

        static func configure(builder: DataMigrator<UserDataV4>.Builder) {
            builder
                // V1 -> V2: Add email field
                .register(from: UserDataV1.self, to: UserDataV2.self) { v1 in
                    UserDataV2(name: v1.name, email: "")
                }
                // V2 -> V3: Add preferences
                .register(from: UserDataV2.self, to: UserDataV3.self) { v2 in
                    UserDataV3(name: v2.name, email: v2.email, preferences: [:])
                }
                // V3 -> V4: Restructure data
                .register(from: UserDataV3.self, to: UserDataV4.self) { v3 in
                    let profile = UserProfile(name: v3.name, email: v3.email)
                    let preferences = UserPreferences(from: v3.preferences)
                    return UserDataV4(profile: profile, preferences: preferences)
                }
        }
    }
}

/// "Branching Migration Paths".
enum BranchingSample {
    struct LegacyJSONFormat: Codable, Equatable { let jsonData: String }
    struct LegacyPlistFormat: Codable, Equatable { let plistData: String }
    struct IntermediateFormat: Codable, Equatable { let text: String }

    struct CurrentFormat: Codable, Equatable {
        let content: String
        init(content: String) { self.content = content }
        init(from text: String) { content = text }
        init(upgrading intermediate: IntermediateFormat) { content = intermediate.text }
    }

    struct Storage: VaultStorable {
        static let defaultValue = CurrentFormat(content: "")

        // Handle different legacy formats
        static func configure(builder: DataMigrator<CurrentFormat>.Builder) {
            // Path 1: From old JSON format
            builder.register(from: LegacyJSONFormat.self, to: CurrentFormat.self) { legacy in
                CurrentFormat(from: legacy.jsonData)
            }

            // Path 2: From old plist format
            builder.register(from: LegacyPlistFormat.self, to: CurrentFormat.self, serializer: .plist) { legacy in
                CurrentFormat(from: legacy.plistData)
            }

            // Path 3: From intermediate format
            builder.register(from: IntermediateFormat.self, to: CurrentFormat.self) { intermediate in
                CurrentFormat(upgrading: intermediate)
            }
        }
    }
}

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

/// "Data Validation During Migration".
enum ValidationSample {
    struct UnvalidatedData: Codable, Equatable {
        let name: String
        let email: String
        let age: Int
    }

    struct ValidatedData: Codable, Equatable, VersionedValue {
        static let version = 2
        let name: String
        let email: String
        let age: Int
    }

    struct Storage: VaultStorable {
        static let defaultValue = ValidatedData(name: "", email: "", age: 0)

        static func configure(builder: DataMigrator<ValidatedData>.Builder) {
            builder.register(from: UnvalidatedData.self, to: ValidatedData.self) { unvalidated in
                // Validate and clean data during migration
                let cleanedEmail = unvalidated.email.trimming(while: \.isWhitespace)
                let validEmail = cleanedEmail.contains("@") ? cleanedEmail : ""

                let clampedAge = max(0, min(150, unvalidated.age))

                return ValidatedData(
                    name: unvalidated.name.isEmpty ? "Unknown" : unvalidated.name,
                    email: validEmail,
                    age: clampedAge
                )
            }
            builder.assumeUntagged(UnvalidatedData.self)
        }
    }
}

extension String {
    fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> String {
        String(drop(while: isTrimmed).reversed().drop(while: isTrimmed).reversed())
    }
}

/// "Complex Data Restructuring".
enum RestructuringSample {
    // Old flat structure
    struct FlatUserDataV1: Codable, Equatable {
        let userName: String
        let userEmail: String
        let userAge: Int
        let settingTheme: String
        let settingNotifications: Bool
        let settingFontSize: Double
    }

    // New hierarchical structure
    struct HierarchicalUserData: Codable, Equatable {
        let user: User
        let settings: Settings
    }

    struct User: Codable, Equatable {
        let name: String
        let email: String
        let age: Int
    }

    struct Settings: Codable, Equatable {
        let theme: String
        let notifications: Bool
        let fontSize: Double
    }

    struct Storage: VaultStorable {
        static let defaultValue = HierarchicalUserData(
            user: User(name: "", email: "", age: 0),
            settings: Settings(theme: "light", notifications: true, fontSize: 12))

        // Migration with restructuring
        static func configure(builder: DataMigrator<HierarchicalUserData>.Builder) {
            builder.register(from: FlatUserDataV1.self, to: HierarchicalUserData.self) { flat in
                let user = User(
                    name: flat.userName,
                    email: flat.userEmail,
                    age: flat.userAge
                )

                let settings = Settings(
                    theme: flat.settingTheme,
                    notifications: flat.settingNotifications,
                    fontSize: flat.settingFontSize
                )

                return HierarchicalUserData(user: user, settings: settings)
            }
        }
    }
}

/// "Graceful Degradation".
enum DegradationSample {
    struct UserDataV1: Codable, Equatable { let name: String }

    struct UserData: Codable, Equatable {
        let fullName: String
        static let safe = UserData(fullName: "Unknown")

        init(fullName: String) { self.fullName = fullName }

        init(migrating v1: UserDataV1) throws {
            guard !v1.name.isEmpty else { throw MigrationError.transformationFailed("the name is empty") }
            fullName = v1.name
        }
    }

    struct ResilientStorage: VaultStorable {
        typealias Value = UserData
        static let defaultValue = UserData.safe

        static func configure(builder: DataMigrator<UserData>.Builder) {
            // Define migrations...
            builder.register(from: UserDataV1.self, to: UserData.self) { v1 in
                // If migration fails, this will be caught automatically
                // and defaultValue will be used instead
                return try UserData(migrating: v1)
            }
        }
    }
}

/// "Version Your Data Structures", "Use Semantic Versioning for Keys" and "Keep Old Versions for Reference".
enum PracticeSample {
    typealias Theme = TransformationSample.Theme

    // Include version information
    struct UserSettingsV3: Codable, Equatable, VersionedValue {
        static let version = 3
        let theme: Theme
        let notifications: Bool
        let fontSize: Double
    }

    struct UserSettingsStorage: VaultStorable {
        typealias Value = UserSettingsV3
        static let key = "user_settings"  // The same for all versions
        static let defaultValue = UserSettingsV3(theme: .auto, notifications: true, fontSize: 16)
    }

    // Keep old versions in your codebase for migration support
    // Mark them as deprecated but don't delete them

    @available(*, deprecated, message: "Use UserSettingsV3 instead")
    struct UserSettingsV2: Codable, Equatable {
        let theme: String
        let notifications: Bool
    }
}

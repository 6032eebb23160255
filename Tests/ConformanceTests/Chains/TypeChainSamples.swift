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

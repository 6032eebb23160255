import LocalDataAPI
import LocalDataHost

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

import LocalDataAPI
import LocalDataHost

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

import LocalDataAPI
import LocalDataHost

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

import LocalDataAPI

/// The keys that the pack knows: those of the app's first version, and the current ones. A migration identifies a key
/// by its address, serializer and security, so a pack declares them again, as they were and are.
enum Keys {
    static let preferences = StorageDomain.userDefaults(suite: "org.example.app")
    static let secrets = StorageDomain.keychain(service: "org.example.app")

    static func plain<Value: Codable & Sendable>(_ name: String, _ description: String) -> StorageKey<Value> {
        StorageKey(
            name: name, domain: preferences, security: .none, owner: "CustomMigrationPack", description: description)
    }

    // The first version's keys.
    static let plainToken: StorageKey<String> = plain("token", "the token, in plain text")
    static let oldTheme: StorageKey<String> = plain("ui.theme", "the theme under its former name")
    static let profileV1: StorageKey<UserProfileV1> = plain("profile", "who uses the app, as one name")
    static let fontSize: StorageKey<Int> = plain("font.size", "the size of text")
    static let fontName: StorageKey<String> = plain("font.name", "the font of text")
    static let draft: StorageKey<String> = plain("draft", "what was being written, with markers of version 1")
    static let counter: StorageKey<Int> = plain("counter", "how often the app was started, as a count from 1")
    static let telemetry: StorageKey<String> = plain("telemetry", "an id that nobody needs any more")

    // The current version's keys.
    static let token: StorageKey<String> = StorageKey(
        name: "token", domain: secrets, security: .keychain(accessibility: .afterFirstUnlock),
        owner: "CustomMigrationPack", description: "the token")
    static let theme: StorageKey<String> = plain("theme", "the theme")
    static let profile: StorageKey<UserProfileV2> = plain("profile.v2", "who uses the app")
    static let font: StorageKey<Font> = plain("font", "the font of text")
    static let document: StorageKey<String> = plain("document", "what was being written")
    static let starts: StorageKey<Int> = plain("starts", "how often the app was started again")
}

/// The profile of version 1.
struct UserProfileV1: Codable, Sendable { var name: String }

/// The current profile.
struct UserProfileV2: Codable, Sendable {
    var firstName: String
    var lastName: String
}

/// A font's name and size in one value.
struct Font: Codable, Sendable {
    var name: String
    var size: Int
}

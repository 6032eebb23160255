import FoundationEssentials
import LocalDataAPI

/// A person, as the app stores one.
struct Profile: Codable, Equatable {
    let name: String
    let languages: [String]
}

extension StorageKey where Value == String {
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance",
        description: "The colour theme that the user chose.", syncPolicy: .automaticSmall)

    static let groupTheme = StorageKey(
        name: "theme", domain: .appGroupUserDefaults(identifier: nil), security: .none, owner: "Appearance",
        description: "The theme that the widgets share.")

    static let token = StorageKey(
        name: "token", domain: .keychain(service: nil), security: .keychain(accessibility: .afterFirstUnlock),
        owner: "Accounts", description: "The token of the signed-in account.", availability: .phoneOnly)

    static let recovery = StorageKey(
        name: "recovery", domain: .keychain(service: nil),
        security: .keychain(accessibility: .whenPasscodeSetThisDeviceOnly, accessControl: .biometryCurrentSet),
        owner: "Accounts", description: "The recovery code.")
}

extension StorageKey where Value == Profile {
    static let profile = StorageKey(
        name: "profile", domain: .fileSystem(), security: .none, serializer: .plist, owner: "Profiles",
        description: "Who the user is.", syncPolicy: .manual)

    static let diary = StorageKey(
        name: "diary", domain: .encryptedFileSystem(),
        security: .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 600_000))), owner: "Diary",
        description: "What the user wrote for nobody else.")

    static let letter = StorageKey(
        name: "letter", domain: .encryptedFileSystem(),
        security: .encrypted(.external(source: .hardware)), owner: "Diary",
        description: "A letter under a key of a hardware token.")
}

extension StorageKey where Value == Data {
    static let thumbnail = StorageKey(
        name: "thumbnail", domain: .fileSystem(directory: .caches), security: .none, serializer: .data,
        owner: "Profiles", description: "A picture that can be made again.")

    static let document = StorageKey(
        name: "document", domain: .appGroupFileSystem(id: nil, directory: .documents), security: .none,
        serializer: .data, owner: "Documents", description: "A document that the group shares.")

    static let note = StorageKey(
        name: "note", domain: .userDefaults(suite: "notes"), serializer: .data, owner: "Notes",
        description: "A note with the recommended protection, which is what a key gets that says nothing.")
}

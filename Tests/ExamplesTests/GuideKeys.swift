import LocalDataAPI

extension StorageKey where Value == String {
    /// In the keychain: by default a file store whose every value is sealed, so that no daemon is needed.
    static let token = StorageKey(
        name: "token", domain: .keychain(service: "com.example"), security: .keychain(accessibility: .whenUnlocked),
        owner: "Accounts", description: "The session's token.")
    /// In a file, sealed with a master key that the keychain keeps. This is what a key gets that says nothing.
    static let diary = StorageKey(
        name: "diary", domain: .encryptedFileSystem(), security: .recommended, owner: "Diary",
        description: "What the user writes down.")
    /// Sealed with a key that the app brings.
    static let vault = StorageKey(
        name: "vault", domain: .fileSystem(),
        security: .encrypted(.external(source: KeyMaterialSource(id: "hsm"), keyDerivation: .hkdf())), owner: "Vault",
        description: "What only the hardware module opens.")
}

// The keys of the README's app, which other samples use.
extension StorageKey where Value == String {
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance", description: "The colour theme.")
    static let userToken = StorageKey(
        name: "user_token", domain: .keychain(service: "com.myapp"), owner: "AuthService",
        description: "The current user's token.")
}

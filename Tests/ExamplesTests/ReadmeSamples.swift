import LocalDataAPI

// The keys of the README's app, which the guides' other samples use.
extension StorageKey where Value == String {
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance", description: "The colour theme.")
    static let userToken = StorageKey(
        name: "user_token", domain: .keychain(service: "com.myapp"), owner: "AuthService",
        description: "The current user's token.")
}

import LocalData

extension StorageKey where Value == String {
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance", description: "The colour theme.")
    static let userToken = StorageKey(
        name: "user_token", domain: .keychain(service: "com.myapp"), owner: "AuthService",
        description: "The current user's token.")
}

@main struct SettingsApp {
    static func main() async throws {
        let router = StorageRouter.shared
        try await router.set("dark", for: .theme)
        print(try await router.get(.theme))
        try await router.set("token123", for: .userToken)  // encrypted
        print(try await router.get(.userToken))
    }
}

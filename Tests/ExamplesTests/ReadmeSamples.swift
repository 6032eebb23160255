import LocalData

extension StorageKey where Value == String {
    static let userToken = StorageKey(
        name: "user_token", domain: .keychain(service: "com.myapp"), owner: "AuthService",
        description: "The current user's token.")
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance", description: "The colour theme.")
}

func signIn() async throws -> String {
    let router = StorageRouter.shared
    try await router.set("token123", for: .userToken)  // encrypted
    try await router.set("dark", for: .theme)
    return try await router.get(.userToken)
}

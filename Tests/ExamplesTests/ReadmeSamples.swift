import LocalData

extension StorageKey where Value == String {
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance", description: "The colour theme.")
}

func useTheme() async throws -> String {
    let router = StorageRouter.shared
    try await router.set("dark", for: .theme)
    return try await router.get(.theme)
}

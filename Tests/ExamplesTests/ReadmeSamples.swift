import LocalDataAPI
import LocalDataHost

extension StorageKey where Value == String {
    static let theme = StorageKey(
        name: "theme", domain: .userDefaults(), security: .none, owner: "Appearance",
        description: "The colour theme that the user chose.")
}

func toggleTheme() async throws {
    var theme = "light"
    do {
        theme = try await StorageRouter.shared.get(.theme)
    } catch StorageError.notFound {
        // Never chosen: the default stands, and nothing is written for it.
    }
    try await StorageRouter.shared.set(theme == "light" ? "dark" : "light", for: .theme)
}

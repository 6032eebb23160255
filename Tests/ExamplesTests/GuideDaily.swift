import LocalDataAPI
import LocalDataHost

func greet(_ router: StorageRouter) async throws -> String {
    let theme = try await router.get(.theme, default: "light")  // only if no value is stored
    guard let token = try await router.value(of: .userToken) else { return "signed out, \(theme)" }
    return "signed in with \(token.count) characters, \(theme)"
}

func routerOfThisApp() throws -> StorageRouter {
    var configuration = try HostConfiguration(text: "{ log: { level: \"off\" } }")
    try configuration.set("domains.sessions", "memory")
    return StorageRouter(configuration: configuration)
}

func keepSessionsInMemory() async throws {
    try await StorageRouter.shared.configure("domains.sessions", "memory")
}

nonisolated struct Account: Codable, Sendable {
    var name: String
}

nonisolated extension StorageKey where Value == Account {
    static let account = StorageKey(
        name: "account", domain: .fileSystem(), security: .none, owner: "Accounts", description: "Who is signed in.")
}

func end(_ settings: Settings) async throws {
    try await settings.$theme.save()  // throws if it could not be stored
}

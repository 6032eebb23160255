import LocalDataAPI
import LocalDataHost

/// Runs as version 1 of the app or, without an argument, as the current one.
@main struct VersionedSettings {
    static func main() async throws {
        if CommandLine.arguments.dropFirst().first == "1" { return try await storeAsVersion1() }
        let model = ProfileModel()
        await model.load()
        if let error = model.$profile.error { throw error }
        print("profile: \(model.profile.fullName)")
        print("the same: \(try await Profiles().name())")

        let settings = try await AppSettings.open()
        print("settings: \(settings.username), \(settings.theme), every \(settings.interval) minutes")
        settings.theme = "dark"
        try await settings.$theme.save()
    }

    /// What version 1 stored: a profile without an address, and settings under their old names.
    private static func storeAsVersion1() async throws {
        func key<Value>(_ name: String, _ type: Value.Type) -> StorageKey<Value> {
            StorageKey(
                name: name, domain: .userDefaults(), security: .none, owner: "Example", description: "of version 1")
        }
        let router = StorageRouter.shared
        try await router.set(ProfileV1(name: "Ada"), for: key("profile", ProfileV1.self))
        try await router.set("ada", for: key("MyApp.AppSettings.userName", String.self))
        try await router.set(2, for: key("MyApp.AppSettings.interval", Int.self))
    }
}

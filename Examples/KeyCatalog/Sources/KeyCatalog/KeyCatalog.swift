import FoundationEssentials
import LocalDataAPI
import LocalDataHost

/// Uses every key of the catalog once, prints the results, and writes the catalog's manifest for `ld-host`.
///
/// The stores are those of the environment's configuration. Usage: `KeyCatalog MANIFEST`
@main
struct KeyCatalog {
    private static let appIdentifier = "com.example.app"

    static func main() async throws {
        let router = StorageRouter.shared
        await router.updateStorageConfiguration(
            StorageConfiguration(
                appIdentifier: appIdentifier, defaultKeychainService: "com.example.app",
                defaultAppGroupIdentifier: "group.com.example"))
        await router.registerKeyMaterialProvider(HardwareToken(), for: .hardware)
        try await router.registerCatalog(AppCatalog())

        let profile = Profile(name: "Ada", languages: ["en", "fr"])
        await use(.theme, "dark", router)
        await use(.groupTheme, "light", router)
        await use(.token, "secret", router)
        await use(.recovery, "secret", router)
        await use(.profile, profile, router)
        await use(.diary, profile, router)
        await use(.letter, profile, router)
        await use(.thumbnail, Data([1, 2, 3]), router)
        await use(.document, Data("shared".utf8), router)
        await use(.note, Data("private".utf8), router)

        let stranger = StorageKey<String>(
            name: "stranger", domain: .userDefaults(), security: .none, owner: "nobody", description: "In no catalog.")
        await use(stranger, "x", router)

        if CommandLine.arguments.count > 1 {
            let manifest = CatalogManifest(AppCatalog(), app: appIdentifier)
            try manifest.json().write(to: URL(filePath: CommandLine.arguments[1]))
        }
    }

    private static func use<Value: Equatable>(
        _ key: StorageKey<Value>, _ value: Value, _ router: StorageRouter
    ) async {
        do {
            try await router.set(value, for: key)
            let back = try await router.get(key)
            print("\(key.domain)/\(key.name): \(back == value ? "stored and read back" : "DIFFERENT")")
        } catch StorageError.securityApplicationFailed {
            print("\(key.domain)/\(key.name): refused, because \(key.security) cannot be applied here")
        } catch {
            print("\(key.domain)/\(key.name): \(error)")
        }
    }
}

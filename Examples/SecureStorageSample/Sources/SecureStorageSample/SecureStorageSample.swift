import FoundationEssentials
import LocalData

/// Shows four kinds of migrations: legacy, conditional, transforming, aggregating.
///
/// `SecureStorageSample prepare` stores what version 1.0 of the app left behind; `SecureStorageSample` is version 2.0,
/// which migrates it. Run it twice: the second time there is nothing to do. The stores are those of the configuration.
@main
struct SecureStorageSample {
    static func main() async throws {
        let router = StorageRouter.shared
        if CommandLine.arguments.dropFirst().first == "prepare" {
            try await router.configure("app.version", "1.0.0")
            try await prepare(router)
        } else {
            try await router.configure("app.version", "2.0.0")
            try await migrate(router)
        }
    }

    private static func prepare(_ router: StorageRouter) async throws {
        let profile = UserProfileV1(
            id: UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF") ?? UUID(), firstName: "Ada",
            lastName: "Lovelace", email: "ada@example.com", createdAt: Date(timeIntervalSinceReferenceDate: 0))
        try await router.set("secret", for: .legacyToken)
        try await router.set(profile, for: .conditionalProfileV1)
        try await router.set(profile, for: .profileV1)
        try await router.set(true, for: .notificationsSetting)
        try await router.set(true, for: .backupSetting)
        try await router.set("dark", for: .themeSetting)
        print("version 1.0.0 has stored a token, two profiles and three settings")
    }

    private static func migrate(_ router: StorageRouter) async throws {
        let report = try await router.registerCatalog(SampleCatalog(), migrateImmediately: true)
        for entry in report.entries {
            print("\(entry.destination.name): \(entry.error.map { "\($0)" } ?? "\(entry.outcome)")")
        }
        print("")
        // Reading a key is enough to migrate its data.
        print("legacy: the token has \(try await router.get(.token).count) characters, and is in the keychain")
        print("conditional: \(try await router.get(.conditionalProfile).fullName)")
        let profile = try await router.get(.profile)
        print("transforming: \(profile.fullName), \(profile.email), theme \(profile.preferences.theme)")
        let settings = try await router.get(.settings)
        print(
            "aggregating: notifications \(settings.notifications), backup \(settings.autoBackup), theme \(settings.theme)"
        )
        print("")
        // The current catalogs do not have the old keys, so use a router without catalogs.
        let plain = StorageRouter(configuration: try await router.configuration())
        for source in sources where try await plain.exists(source) { print("left behind: \(source.descriptor.name)") }
        for key in [StorageKey.profile, .conditionalProfile] {
            let history = try await router.migrationHistory(for: key)
            print("\(key.name): \(history.map { "\($0.id), revision \($0.revision), \($0.state)" }.joined())")
        }
    }

    /// The source keys of the migrations.
    private static var sources: [AnyStorageKey] {
        SampleCatalog().allKeys.flatMap { $0.migration?.sources ?? [] }
    }
}

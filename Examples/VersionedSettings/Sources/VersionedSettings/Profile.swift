import LocalDataAPI
import LocalDataHost

struct ProfileV1: Codable, Equatable {
    var name: String
}

struct ProfileV2: Codable, Equatable {
    var name: String
    var email: String
}

struct Profile: Codable, Equatable, VersionedValue {
    static let version = 3
    var fullName: String
    var email: String?
}

struct ProfileStorage: VaultStorable {
    static let key = "profile"
    static let security = SecurityPolicy.none
    static let defaultValue = Profile(fullName: "guest")

    static func configure(builder: DataMigrator<Profile>.Builder) {
        builder
            .register(from: ProfileV1.self, to: ProfileV2.self) { v1 in
                ProfileV2(name: v1.name, email: "")
            }
            .register(from: ProfileV2.self, to: Profile.self) { v2 in
                Profile(fullName: v2.name, email: v2.email.isEmpty ? nil : v2.email)
            }
    }
}

/// The model of a window.
struct ProfileModel: Sendable {
    @VaultStored(ProfileStorage.self) var profile

    func load() async {
        await $profile.initializationTask.value
    }
}

/// Asynchronous functions can use the key itself.
struct Profiles {
    let key: StorageKey<Profile>

    init() throws { key = try ProfileStorage.storageKey() }

    func name() async throws -> String {
        do { return try await StorageRouter.shared.get(key).fullName } catch StorageError.notFound {
            return ProfileStorage.defaultValue.fullName
        }
    }
}

import LocalData

/// Converts a version 1 profile into the current type.
struct ProfileTransformMigration: TransformingMigration {
    let destinationKey: StorageKey<UserProfile> = .profile
    let sourceKey: StorageKey<UserProfileV1> = .profileV1

    func transform(_ source: UserProfileV1) async throws -> UserProfile { UserProfile(upgrading: source) }
}

extension UserProfile {
    /// Uses nothing but the old profile, so that every run gives the same result.
    init(upgrading old: UserProfileV1) {
        self.init(
            id: old.id, fullName: "\(old.firstName) \(old.lastName)", email: old.email, createdAt: old.createdAt,
            preferences: UserPreferences(notifications: true, theme: "system", language: "en"))
    }
}

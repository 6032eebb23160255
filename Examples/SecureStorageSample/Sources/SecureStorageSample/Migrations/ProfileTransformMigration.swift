import LocalData

/// Makes a profile of today of one of version 1.
struct ProfileTransformMigration: TransformingMigration {
    let destinationKey: StorageKey<UserProfile> = .profile
    let sourceKey: StorageKey<UserProfileV1> = .profileV1

    func transform(_ source: UserProfileV1) async throws -> UserProfile { UserProfile(upgrading: source) }
}

extension UserProfile {
    /// Depends on nothing but the old profile, so that it is the same however often it is made.
    init(upgrading old: UserProfileV1) {
        self.init(
            id: old.id, fullName: "\(old.firstName) \(old.lastName)", email: old.email, createdAt: old.createdAt,
            preferences: UserPreferences(notifications: true, theme: "system", language: "en"))
    }
}

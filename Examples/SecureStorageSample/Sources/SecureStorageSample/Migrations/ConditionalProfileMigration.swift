import LocalData

/// Migrates a profile that a version before 2.0 wrote: the version that wrote it counts, not the one that is running.
struct ConditionalProfileMigration: ConditionalMigration {
    let destinationKey: StorageKey<UserProfile> = .conditionalProfile
    let sourceKey: StorageKey<UserProfileV1> = .conditionalProfileV1

    var sources: [AnyStorageKey] { [.key(sourceKey)] }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        guard try await router.exists(sourceKey) else { return false }
        guard let written = context.dataVersion.flatMap({ SemanticVersion($0) }), let limit = SemanticVersion("2.0.0")
        else {
            throw MigrationError(.conditionalMigrationFailed, "the version that wrote the profile is not known")
        }
        return written < limit
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        try await router.set(UserProfile(upgrading: try await router.get(sourceKey)), for: destinationKey)
        try await router.remove(sourceKey)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

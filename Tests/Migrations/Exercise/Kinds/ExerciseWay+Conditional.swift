internal import LocalDataAPI

/// Replaces a value by another one if the user agreed.
private struct AgreedMigration: ConditionalMigration {
    let destinationKey: StorageKey<String>
    let sourceKey: StorageKey<String>

    var sources: [AnyStorageKey] { [.key(sourceKey)] }
    var conflictPolicy: MigrationConflictPolicy { .takeSource }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        guard context.userPreferences[Exercise.preference] == true else { return false }
        return try await router.exists(sourceKey)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        try await router.set(try await router.get(sourceKey), for: destinationKey)
        try await router.remove(sourceKey)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

extension ExerciseWay {
    func conditional() throws -> ExerciseCase {
        let old: StorageKey<String> = old("old")
        let new: StorageKey<String> = new("new") {
            AnyStorageMigration.counted(AgreedMigration(destinationKey: $0, sourceKey: old))
        }
        return ExerciseCase(
            destination: ExerciseDestination(new),
            before: try neighbours() + [ExerciseValue(old, "the value"), ExerciseValue(new, "a value before")],
            steps: [
                ExerciseCase.Step(
                    id: new.migration?.id ?? "", written: [try ExerciseValue(new, "the value")], removed: [.key(old)])
            ])
    }
}

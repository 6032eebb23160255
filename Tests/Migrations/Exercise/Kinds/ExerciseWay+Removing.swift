internal import LocalDataAPI

/// Removes a value, and keeps its length elsewhere.
private struct RetiringMigration: StorageMigration {
    let destinationKey: StorageKey<String>
    let lengthKey: StorageKey<Int>

    var effect: MigrationEffect { .removes }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(destinationKey)
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        try await router.set(try await router.get(destinationKey).utf8.count, for: lengthKey)
        try await router.remove(destinationKey)
        return MigrationResult(success: true, migratedCount: 1)
    }
}

extension ExerciseWay {
    /// The removed value is in the destination, where the migration has its ledger.
    func removing() throws -> ExerciseCase {
        let length: StorageKey<Int> = old("length")
        let plain: StorageKey<String> = new("retired")
        let retired: StorageKey<String> = new("retired") {
            AnyStorageMigration.counted(RetiringMigration(destinationKey: $0, lengthKey: length))
        }
        return ExerciseCase(
            destination: ExerciseDestination(retired),
            before: try neighbours() + [ExerciseValue(plain, "the value")],
            steps: [
                ExerciseCase.Step(
                    id: retired.migration?.id ?? "", written: [try ExerciseValue(length, 9)], removed: [.key(plain)])
            ])
    }
}

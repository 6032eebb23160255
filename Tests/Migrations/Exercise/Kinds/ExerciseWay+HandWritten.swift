internal import LocalDataAPI

/// Writes and removes values in both locations.
private struct SeveralMigration: StorageMigration {
    let destinationKey: StorageKey<String>
    let old: [StorageKey<String>]
    let changed: StorageKey<Int>
    let made: StorageKey<String>
    let replaced: StorageKey<String>
    let dropped: StorageKey<String>

    var sources: [AnyStorageKey] { old.map { .key($0) } }
    var conflictPolicy: MigrationConflictPolicy { .takeSource }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await router.exists(old[0])
    }

    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
        var values: [String] = []
        for key in old {
            values.append(try await router.get(key))
            try await router.remove(key)
        }
        try await router.set(values.joined(separator: " "), for: destinationKey)
        try await router.set(try await router.get(changed) + 1, for: changed)
        try await router.set(values[0], for: made)
        try await router.set(values[1], for: replaced)
        try await router.remove(dropped)
        return MigrationResult(success: true, migratedCount: values.count)
    }

    /// Accepts that a protected value becomes plain.
    func validate() throws(MigrationError) {}
}

extension ExerciseWay {
    func handWritten() throws -> ExerciseCase {
        let keys: [StorageKey<String>] = [old("first"), old("second")]
        let changed: StorageKey<Int> = old("changed")
        let made: StorageKey<String> = old("made")
        let replaced: StorageKey<String> = destination.key("replaced")
        let dropped: StorageKey<String> = destination.key("dropped")
        let new: StorageKey<String> = destination.key("new") {
            AnyStorageMigration.counted(
                SeveralMigration(
                    destinationKey: $0, old: keys, changed: changed, made: made, replaced: replaced, dropped: dropped))
        }
        return ExerciseCase(
            destination: ExerciseDestination(new),
            before: try neighbours() + keys.map { try ExerciseValue($0, "of \($0.name)") } + [
                ExerciseValue(changed, 1), ExerciseValue(replaced, "before"), ExerciseValue(dropped, "before"),
                ExerciseValue(new, "before"),
            ],
            steps: [
                ExerciseCase.Step(
                    id: new.migration?.id ?? "",
                    written: [
                        try ExerciseValue(new, "of first of second"), try ExerciseValue(changed, 2),
                        try ExerciseValue(made, "of first"), try ExerciseValue(replaced, "of second"),
                    ],
                    removed: keys.map { .key($0) } + [.key(dropped)])
            ])
    }
}

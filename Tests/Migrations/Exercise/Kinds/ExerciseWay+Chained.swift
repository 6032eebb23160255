internal import LocalDataAPI

extension ExerciseWay {
    func chained() throws -> ExerciseCase {
        let old: StorageKey<String> = old("old")
        let between: StorageKey<String> = new("between") {
            AnyStorageMigration.counted(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
        let first = between.migration?.id ?? ""
        let new: StorageKey<String> = new("new") {
            AnyStorageMigration.counted(
                DefaultTransformingMigration(destinationKey: $0, sourceKey: between, dependencies: [first]) {
                    "\($0), and more"
                })
        }
        return ExerciseCase(
            destination: ExerciseDestination(new), others: [ExerciseDestination(between)],
            registered: between.migration.map { [$0] } ?? [],
            before: try neighbours() + [ExerciseValue(old, "the value")],
            steps: [
                ExerciseCase.Step(
                    id: first, written: [try ExerciseValue(between, "the value")], removed: [.key(old)]),
                ExerciseCase.Step(
                    id: new.migration?.id ?? "", written: [try ExerciseValue(new, "the value, and more")],
                    removed: [.key(between)]),
            ])
    }
}

internal import LocalDataAPI

extension ExerciseWay {
    func aggregating() throws -> ExerciseCase {
        let keys: [StorageKey<String>] = ["first", "second", "third"].map { old($0) }
        let absent: StorageKey<String> = old("absent")
        let new: StorageKey<String> = new("new") {
            AnyStorageMigration.counted(
                DefaultAggregatingMigration(destinationKey: $0, sourceKeys: (keys + [absent]).map { .key($0) }) {
                    sources in
                    try keys.compactMap { try sources.value(of: $0) }.joined(separator: " ")
                })
        }
        return ExerciseCase(
            destination: ExerciseDestination(new),
            before: try neighbours() + keys.map { try ExerciseValue($0, "of \($0.name)") },
            steps: [
                ExerciseCase.Step(
                    id: new.migration?.id ?? "",
                    written: [try ExerciseValue(new, "of first of second of third")], removed: keys.map { .key($0) })
            ])
    }
}

internal import LocalDataAPI

extension ExerciseWay {
    func legacy() throws -> ExerciseCase {
        let old: StorageKey<String> = old("old")
        let new: StorageKey<String> = new("new") {
            AnyStorageMigration.counted(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
        return try moving(old, "the value", to: new, "the value")
    }

    func transforming() throws -> ExerciseCase {
        let old: StorageKey<[String: String]> = old("old", as: .plist)
        let new: StorageKey<String> = new("new") {
            AnyStorageMigration.counted(
                DefaultTransformingMigration(destinationKey: $0, sourceKey: old) {
                    "\($0["first"] ?? "") \($0["last"] ?? "")"
                })
        }
        return try moving(old, ["first": "Ann", "last": "Lee"], to: new, "Ann Lee")
    }

    func appVersion() throws -> ExerciseCase {
        let old: StorageKey<Int> = old("old")
        let new = new("new") { (key: StorageKey<String>) in
            let fallback = DefaultTransformingMigration(destinationKey: key, sourceKey: old) { "\($0)" }
            return AnyStorageMigration.counted(
                AppVersionConditionalMigration(
                    destinationKey: key, minAppVersion: Exercise.version,
                    fallbackMigration: AnyStorageMigration(fallback)))
        }
        return try moving(old, 7, to: new, "7")
    }

    private func moving<Source>(
        _ old: StorageKey<Source>, _ before: Source, to new: StorageKey<String>, _ after: String
    ) throws -> ExerciseCase {
        ExerciseCase(
            destination: ExerciseDestination(new), before: try neighbours() + [ExerciseValue(old, before)],
            steps: [
                ExerciseCase.Step(
                    id: new.migration?.id ?? "", written: [try ExerciseValue(new, after)], removed: [.key(old)])
            ])
    }
}

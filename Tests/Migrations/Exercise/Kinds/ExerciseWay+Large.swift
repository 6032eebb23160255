internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

extension ExerciseWay {
    /// More bytes than are moved in one piece.
    private static let size = 1_100_000

    func large() throws -> ExerciseCase {
        let old: StorageKey<Data> = old("old", as: .data)
        let new: StorageKey<Data> = new("new", as: .data) {
            AnyStorageMigration(SimpleLegacyMigration(destinationKey: $0, sourceKey: .key(old)))
        }
        let data = Data(repeating: 7, count: Self.size)
        return ExerciseCase(
            destination: ExerciseDestination(new), before: try neighbours() + [ExerciseValue(old, data)],
            steps: [
                ExerciseCase.Step(
                    id: new.migration?.id ?? "", written: [try ExerciseValue(new, data)], removed: [.key(old)])
            ], isCounted: false)
    }

    func largeBulk() throws -> ExerciseCase {
        let names = ["first", "second", "third"]
        let (olds, news): ([StorageKey<Data>], [StorageKey<Data>]) = (
            names.map { old("old.\($0)", as: .data) }, names.map { new("new.\($0)", as: .data) }
        )
        let values = [5, Self.size, 300].enumerated().map { Data(repeating: UInt8($0), count: $1) }
        let migration = AnyBulkMigration(
            SimpleBulkMigration(
                id: "large",
                from: MigrationRange(
                    domain: source.domain, prefix: "old.", security: olds[0].security, serializer: .data),
                to: MigrationRange(
                    domain: destination.domain, prefix: "new.", security: news[0].security, serializer: .data)))
        return ExerciseCase(
            destination: ExerciseDestination(news[1]), bulk: migration,
            before: try neighbours() + zip(olds, values).map { try ExerciseValue($0, $1) },
            steps: [
                ExerciseCase.Step(
                    id: migration.id, written: try zip(news, values).map { try ExerciseValue($0, $1) },
                    removed: olds.map { .key($0) })
            ], isCounted: false)
    }
}

internal import FoundationEssentials
internal import LocalDataAPI

/// Moves values in bulk, and appends something to each. Runs are counted by values.
private struct AddingMigration: BulkMigration {
    let id = "adding"
    let source: MigrationRange
    let destination: MigrationRange

    var conflictPolicy: MigrationConflictPolicy { .takeSource }

    func convert(_ data: Data, named name: String) throws -> Data {
        try RunCount.add()
        let text = try Serializer<String>.json.decode(data)
        return try Serializer<String>.json.encode("\(text), and more")
    }
}

extension ExerciseWay {
    func bulk() throws -> ExerciseCase {
        let names = ["first", "second", "third", "fourth"]
        let (olds, news): ([StorageKey<String>], [StorageKey<String>]) = (
            names.map { old("old.\($0)") }, names.map { new("new.\($0)") }
        )
        let migration = AnyBulkMigration(
            AddingMigration(
                source: MigrationRange(domain: source.domain, prefix: "old.", security: olds[0].security),
                destination: MigrationRange(domain: destination.domain, prefix: "new.", security: news[0].security)))
        return ExerciseCase(
            destination: ExerciseDestination(news[1]), bulk: migration,
            before: try neighbours() + olds.map { try ExerciseValue($0, "of \($0.name)") }
                + [ExerciseValue(news[2], "before")],
            steps: [
                ExerciseCase.Step(
                    id: migration.id,
                    written: try zip(olds, news).map { try ExerciseValue($1, "of \($0.name), and more") },
                    removed: olds.map { .key($0) })
            ])
    }
}

package import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Migrations of one kind from one place to another, with what is stored before and what each of them changes.
package struct ExerciseCase: Sendable {
    /// What one migration changes.
    struct Step: Sendable {
        let id: String
        let written: [ExerciseValue]
        let removed: [AnyStorageKey]
    }

    /// The key that an app asks for.
    let destination: ExerciseDestination
    /// The keys that other migrations bring data to, which that one depends on.
    var others: [ExerciseDestination] = []
    /// The migrations that other keys have.
    var registered: [AnyStorageMigration] = []
    /// The migration, if it is one of many keys.
    var bulk: AnyBulkMigration?
    /// The container, if it is one that migrates.
    var container: ContainerChain?
    /// What is stored before.
    let before: [ExerciseValue]
    /// In the order in which they run.
    let steps: [Step]

    /// Every key that has a value at some time, none of which brings data by being asked for.
    var keys: [AnyStorageKey] {
        var known: Set<String> = []
        let all = before.map(\.key) + steps.flatMap { $0.written.map(\.key) + $0.removed }
        return all.filter { known.insert($0.exerciseAddress).inserted }
    }

    /// The values that must be there, by address, if these rows are what the ledger says: nothing of a migration
    /// without a row, all that one wrote which has a row, and nothing any more that one removes which is clean.
    private func values(after rows: [ExerciseLook.Row]) -> [String: Data] {
        var values: [String: Data] = [:]
        for value in before { values[value.address] = value.shown }
        for step in steps {
            guard let row = rows.first(where: { $0.id == step.id }), row.state != .copying else { continue }
            for value in step.written { values[value.address] = value.shown }
            guard row.state == .clean else { continue }
            for key in step.removed { values[key.exerciseAddress] = nil }
        }
        return values
    }

    /// Whether values move in parts, so that a run that fails may have moved some.
    package var isInParts: Bool { bulk != nil }

    /// Whether its runs are counted; what only moves values has no code of its own that could count.
    var isCounted = true

    /// How many runs of a migration are counted if nothing disturbs it; `nil` if none are.
    package var runs: Int? { isCounted ? bulk == nil ? steps.count : steps[0].written.count : nil }

    /// Whether values are where the ledger says that they are.
    package func allows(_ look: ExerciseLook) -> Bool {
        let isUnderWay = isInParts ? look.rows.first?.state == .published : look.rows.first?.state == .copying
        guard isUnderWay else { return look.values == values(after: look.rows) }
        // Of those that are on their way, each is in one place or both.
        var expected = values(after: [])
        for (value, source) in zip(steps[0].written, steps[0].removed)
        where look.values[value.address] == value.shown {
            expected[value.address] = value.shown
            if look.values[source.exerciseAddress] == nil { expected[source.exerciseAddress] = nil }
        }
        return look.values == expected
    }

    /// The destination's address, as the ledger says it.
    package var address: String { destination.key.exerciseAddress }

    /// The ids of the migrations, in the order in which they run.
    package var ids: [String] { steps.map(\.id) }

    /// What is stored for the destination before; `nil` for nothing.
    package var old: Data? { before.first { $0.address == address }?.shown }

    /// What an app gets that asks for the destination when all is done; `nil` for nothing.
    package var wanted: Data? { steps.last?.written.first { $0.address == address }?.shown }
}

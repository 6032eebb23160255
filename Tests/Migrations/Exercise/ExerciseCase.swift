package import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// Migrations of one kind from one location to another, with the values stored before and the changes of each
/// migration.
package struct ExerciseCase: Sendable {
    /// The changes of one migration.
    struct Step: Sendable {
        let id: String
        let written: [ExerciseValue]
        let removed: [AnyStorageKey]
    }

    /// The key that an app reads.
    let destination: ExerciseDestination
    /// The destinations of other migrations, on which that of `destination` depends.
    var others: [ExerciseDestination] = []
    /// The migrations of the other keys.
    var registered: [AnyStorageMigration] = []
    /// The migration, if it is a bulk one.
    var bulk: AnyBulkMigration?
    /// The container, if it is a container's migration.
    var container: ContainerChain?
    /// The values stored before.
    let before: [ExerciseValue]
    /// The steps, in the order in which they run.
    let steps: [Step]

    /// Every key that has a value at some time, in a form that runs no migration when it is read.
    var keys: [AnyStorageKey] {
        var known: Set<String> = []
        let all = before.map(\.key) + steps.flatMap { $0.written.map(\.key) + $0.removed }
        return all.filter { known.insert($0.exerciseAddress).inserted }
    }

    /// The values that must exist, by address, if the ledger has these rows: nothing that a migration without a row
    /// writes, all that a migration with a row writes, and nothing that a clean one removes.
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

    /// Whether values move in parts, so that a failed run may have moved some.
    package var isInParts: Bool { bulk != nil }

    /// Whether runs are counted: a migration that only moves values has no code that could count.
    var isCounted = true

    /// The number of counted runs if nothing disturbs the migration; `nil` if they are not counted.
    package var runs: Int? { isCounted ? bulk == nil ? steps.count : steps[0].written.count : nil }

    /// Whether all values are where the ledger says.
    package func allows(_ look: ExerciseLook) -> Bool {
        let isUnderWay = isInParts ? look.rows.first?.state == .published : look.rows.first?.state == .copying
        guard isUnderWay else { return look.values == values(after: look.rows) }
        // Values in transit may be in one location or in both.
        var expected = values(after: [])
        for (value, source) in zip(steps[0].written, steps[0].removed)
        where look.values[value.address] == value.shown {
            expected[value.address] = value.shown
            if look.values[source.exerciseAddress] == nil { expected[source.exerciseAddress] = nil }
        }
        return look.values == expected
    }

    /// The destination's address, in the ledger's form.
    package var address: String { destination.key.exerciseAddress }

    /// The ids of the migrations, in the order in which they run.
    package var ids: [String] { steps.map(\.id) }

    /// The destination's value before; `nil` if absent.
    package var old: Data? { before.first { $0.address == address }?.shown }

    /// The value that an app reads from the destination in the end; `nil` if absent.
    package var wanted: Data? { steps.last?.written.first { $0.address == address }?.shown }
}

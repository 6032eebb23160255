internal import FoundationEssentials
internal import LocalDataAPI

/// One step of a manifest.
struct Step: Sendable {
    /// What it does, to single keys or to all of a prefix.
    enum Work: Sendable {
        case keys(any StepAction)
        case range(from: ManifestKey, to: ManifestKey, Reencoding?)
    }

    let id: String
    /// Where the manifest has it.
    let place: ManifestPlace
    let revision: Int
    /// Ids of the steps that it comes after.
    let after: [String]
    let conflictPolicy: MigrationConflictPolicy
    let condition: StepCondition
    let work: Work
    /// Another one if the step does something else.
    let fingerprint: String

    /// The keys that data comes to.
    var brings: [ManifestKey] {
        switch work {
        case .keys(let action): action.effect == .brings ? [action.destination] : []
        case .range(_, let to, _): [to]
        }
    }

    /// The keys that data is taken away from.
    var takes: [ManifestKey] {
        switch work {
        case .keys(let action): action.effect == .brings ? action.sources : [action.destination]
        case .range(let from, _, _): [from]
        }
    }

    /// As the host runs it, if it is for single keys.
    var migration: AnyStorageMigration? {
        guard case .keys(let action) = work else { return nil }
        switch action.destination.serializer {
        case .json: return AnyStorageMigration(typed(action, .json as Serializer<AnyCodable>))
        case .plist: return AnyStorageMigration(typed(action, .plist as Serializer<AnyCodable>))
        case .text: return AnyStorageMigration(typed(action, .text))
        case .custom: return AnyStorageMigration(typed(action, .custom(encode: { $0 }, decode: { $0 })))
        case .data, nil: return AnyStorageMigration(typed(action, .data))
        }
    }

    /// As the host runs it, if it is for a prefix.
    var bulkMigration: AnyBulkMigration? {
        guard case .range(let from, let to, let reencoding) = work else { return nil }
        return AnyBulkMigration(
            RangeMove(
                id: id, revision: revision, dependencies: after, conflictPolicy: conflictPolicy,
                fingerprint: fingerprint, from: from, to: to, reencoding: reencoding))
    }

    private func typed<Value>(_ action: any StepAction, _ serializer: Serializer<Value>) -> StepMigration<Value> {
        let destination = action.destination
        let key = StorageKey<Value>(
            name: destination.name, domain: destination.domain, security: destination.security,
            serializer: serializer, owner: "", description: "named by a manifest of migrations")
        return StepMigration(destinationKey: key, step: self, action: action)
    }
}

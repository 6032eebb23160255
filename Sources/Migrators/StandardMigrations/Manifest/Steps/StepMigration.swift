internal import LocalDataAPI

/// A step for single keys, as the host runs it.
struct StepMigration<Value: Codable & Sendable>: ConditionalMigration {
    let destinationKey: StorageKey<Value>
    let step: Step
    let action: any StepAction

    var id: String { step.id }
    var revision: Int { step.revision }
    var summary: String { action.summary }
    var fingerprint: String? { step.fingerprint }
    var dependencies: [String] { step.after }
    var effect: MigrationEffect { action.effect }
    var sources: [AnyStorageKey] { action.sources.map(\.key) }
    /// What a step changes in place is its own to replace.
    var conflictPolicy: MigrationConflictPolicy { action.changesInPlace ? .takeSource : step.conflictPolicy }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        // What is stored after a removal is something new.
        if action.effect == .removes, context.migrationHistory[id] != nil { return false }
        guard try await action.isNeeded(router) else { return false }
        return try step.condition.holds(for: action.destination, context)
    }

    func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        // What a step for data before 2.0.0 writes is data of 2.0.0, so that the step after it finds its own.
        let version = step.condition.dataVersion?.end
        return MigrationResult(
            success: true, migratedCount: try await action.run(router),
            metadata: version.map { ["dataVersion": AnyCodable(.string($0.description))] } ?? [:])
    }
}

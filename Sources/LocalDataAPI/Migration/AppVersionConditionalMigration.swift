/// Runs another migration if an app before a given version wrote the data.
///
/// It is one step of several. The steps that run lie after the data's version and not after the running app's version,
/// in the order of their registration or dependencies. Data of 1.0 under an app of 3.0 takes the steps to 2.0 and to
/// 3.0; under 2.0.0-beta.3 it takes neither the step to 2.0.0-rc.1 nor that to 2.0.0.
///
/// The version that wrote the data counts, not the running one. It is recorded with every value whose store keeps
/// attributes; for other data, `migrations.dataVersion` in the configuration sets it.
public struct AppVersionConditionalMigration<Value: Codable & Sendable>: ConditionalMigration {
    /// The destination.
    public let destinationKey: StorageKey<Value>
    /// The first version whose data needs no migration.
    public let minAppVersion: String
    /// The migration to run, if its own condition holds too.
    public let fallbackMigration: AnyStorageMigration

    /// Declares a migration.
    public init(destinationKey: StorageKey<Value>, minAppVersion: String, fallbackMigration: AnyStorageMigration) {
        self.destinationKey = destinationKey
        self.minAppVersion = minAppVersion
        self.fallbackMigration = fallbackMigration
    }

    /// The fallback's id and the version.
    public var id: String { "\(fallbackMigration.id) before \(minAppVersion)" }
    /// The fallback's revision.
    public var revision: Int { fallbackMigration.revision }
    /// The fallback's sources.
    public var sources: [AnyStorageKey] { fallbackMigration.sources }
    /// The fallback's dependencies.
    public var dependencies: [String] { fallbackMigration.dependencies }
    /// The fallback's policy.
    public var conflictPolicy: MigrationConflictPolicy { fallbackMigration.conflictPolicy }
    /// The fallback's effect.
    public var effect: MigrationEffect { fallbackMigration.effect }
    /// The fallback's summary.
    public var summary: String { fallbackMigration.summary }

    /// Whether the fallback has something to do, an earlier version wrote its data, and the running app is not itself
    /// of an earlier version. An app without a version counts as the latest.
    ///
    /// - Throws: `conditionalMigrationFailed` if the version of the data is unknown, or either version is malformed.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try validate()
        guard try await fallbackMigration.shouldMigrate(using: router, context: context) else { return false }
        guard let text = context.dataVersion else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the version of the app that wrote the data for '\(destinationKey.domain)/\(destinationKey.name)' is "
                    + "unknown; set it: StorageConfiguration(dataVersion:) with updateStorageConfiguration in the app, or "
                    + "ld-host config set migrations.dataVersion VERSION")
        }
        guard let version = SemanticVersion(text), let minimum = SemanticVersion(minAppVersion) else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the data for '\(destinationKey.domain)/\(destinationKey.name)' was written by version '\(text)', which "
                    + "is not a semantic version such as 2.0.0")
        }
        guard version < minimum else { return false }
        guard let text = context.appVersion else { return true }
        guard let running = SemanticVersion(text) else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the version of the running app, '\(text)', is not a semantic version such as 2.0.0; set it: "
                    + "StorageConfiguration(appVersion:) with updateStorageConfiguration in the app, or "
                    + "ld-host config set app.version VERSION")
        }
        return minimum <= running
    }

    /// Runs the fallback. Its results count as data of this step's version, unless the fallback declares another.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        let result = try await fallbackMigration.migrate(using: router, context: context)
        return MigrationResult(
            success: result.success, migratedCount: result.migratedCount, errors: result.errors,
            metadata: result.metadata.merging(["dataVersion": .init(.string(minAppVersion))]) { first, _ in first },
            duration: result.duration, outcome: result.outcome)
    }

    /// Checks that the version is well formed, and that the fallback is valid and has the same destination.
    public func validate() throws(MigrationError) {
        guard SemanticVersion(minAppVersion) != nil else {
            throw MigrationError(
                .validationFailed, "'\(minAppVersion)' in the migration '\(id)' is not a semantic version such as 2.0.0"
            )
        }
        let other = fallbackMigration.destinationDescriptor
        guard other.domain == destinationKey.domain, other.name.hasBytes(of: destinationKey.name) else {
            throw MigrationError(
                .validationFailed,
                "it is for '\(destinationKey.domain)/\(destinationKey.name)', and its fallback is for "
                    + "'\(other.domain)/\(other.name)'")
        }
        try fallbackMigration.validate()
    }
}

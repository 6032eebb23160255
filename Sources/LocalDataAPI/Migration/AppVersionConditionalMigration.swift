/// Runs another migration if an app before a given version wrote the data: one step of several, of which those run, in
/// the order of their registration or dependencies, that lie after the version of the data and not after that of the
/// running app. Data of 1.0 under an app of 3.0 goes through the steps to 2.0 and to 3.0; under 2.0.0-beta.3 neither
/// that to 2.0.0-rc.1 nor that to 2.0.0 is taken.
///
/// What counts is the version that wrote the data, not the one that runs: it is recorded with every value whose store
/// keeps attributes, and `migrations.dataVersion` in the configuration says it for data without.
public struct AppVersionConditionalMigration<Value: Codable & Sendable>: ConditionalMigration {
    /// The key that the data comes to.
    public let destinationKey: StorageKey<Value>
    /// The first version whose data needs no migration.
    public let minAppVersion: String
    /// What runs; its own condition is asked as well.
    public let fallbackMigration: AnyStorageMigration

    /// Declares a migration.
    public init(destinationKey: StorageKey<Value>, minAppVersion: String, fallbackMigration: AnyStorageMigration) {
        self.destinationKey = destinationKey
        self.minAppVersion = minAppVersion
        self.fallbackMigration = fallbackMigration
    }

    /// The fallback's, and the version.
    public var id: String { "\(fallbackMigration.id) before \(minAppVersion)" }
    /// The fallback's.
    public var revision: Int { fallbackMigration.revision }
    /// The fallback's.
    public var sources: [AnyStorageKey] { fallbackMigration.sources }
    /// The fallback's.
    public var dependencies: [String] { fallbackMigration.dependencies }
    /// The fallback's.
    public var conflictPolicy: MigrationConflictPolicy { fallbackMigration.conflictPolicy }
    /// The fallback's.
    public var effect: MigrationEffect { fallbackMigration.effect }
    /// The fallback's.
    public var summary: String { fallbackMigration.summary }

    /// Whether the fallback has something to do, an earlier version wrote its data, and the running app is not of an
    /// earlier version itself; one that says no version counts as the latest.
    ///
    /// - Throws: `conditionalMigrationFailed` if the version of the data is not known, or one of both is no version.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try validate()
        guard try await fallbackMigration.shouldMigrate(using: router, context: context) else { return false }
        guard let text = context.dataVersion else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the version of the app that wrote the data for '\(destinationKey.domain)/\(destinationKey.name)' is "
                    + "not known; say which it is: ld-host config set migrations.dataVersion VERSION")
        }
        guard let version = SemanticVersion(text), let minimum = SemanticVersion(minAppVersion) else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the data for '\(destinationKey.domain)/\(destinationKey.name)' was written by version '\(text)', which "
                    + "is no semantic version such as 2.0.0")
        }
        guard version < minimum else { return false }
        guard let text = context.appVersion else { return true }
        guard let running = SemanticVersion(text) else {
            throw MigrationError(
                .conditionalMigrationFailed,
                "the version of the running app, '\(text)', is no semantic version such as 2.0.0; say which it is: "
                    + "ld-host config set app.version VERSION")
        }
        return minimum <= running
    }

    /// Runs the fallback. What it writes is data of the version that this is the step to, unless the fallback says
    /// another.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        let result = try await fallbackMigration.migrate(using: router, context: context)
        return MigrationResult(
            success: result.success, migratedCount: result.migratedCount, errors: result.errors,
            metadata: result.metadata.merging(["dataVersion": .init(.string(minAppVersion))]) { first, _ in first },
            duration: result.duration, outcome: result.outcome)
    }

    /// Checks that the version is one, and that the fallback has the same destination and is right itself.
    public func validate() throws(MigrationError) {
        guard SemanticVersion(minAppVersion) != nil else {
            throw MigrationError(
                .validationFailed, "'\(minAppVersion)' in the migration '\(id)' is no semantic version such as 2.0.0")
        }
        let other = fallbackMigration.destinationDescriptor
        guard other.domain == destinationKey.domain, other.name.utf8.elementsEqual(destinationKey.name.utf8) else {
            throw MigrationError(
                .validationFailed,
                "the migration '\(id)' is for '\(destinationKey.domain)/\(destinationKey.name)', and its fallback is for "
                    + "'\(other.domain)/\(other.name)'")
        }
        try fallbackMigration.validate()
    }
}

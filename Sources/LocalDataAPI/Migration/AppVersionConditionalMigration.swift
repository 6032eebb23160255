/// Runs another migration if an app before a given version wrote the data.
///
/// What counts is the version that wrote the data, not the one that runs: it is recorded with every value whose store keeps
/// attributes, and `migrations.dataVersion` in the configuration says it for data without.
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

    /// Whether the fallback has something to do, and an earlier version wrote its data.
    ///
    /// - Throws: `conditionalMigrationFailed` if that version is not known, or no version.
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
        return version < minimum
    }

    /// Runs the fallback.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        try await fallbackMigration.migrate(using: router, context: context)
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

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The result of a migration.
public struct MigrationResult: Sendable {
    /// Whether its changes are to take effect.
    public let success: Bool
    /// How many values reached their destination.
    public let migratedCount: Int
    /// The errors, if it failed.
    public let errors: [MigrationError]
    /// Other facts that the migration reports.
    public let metadata: [String: AnyCodable]
    /// The duration in seconds.
    public let duration: TimeInterval
    /// The outcome; the host fills it in.
    public let outcome: MigrationOutcome

    /// The app version that the migrated data conforms to, from `dataVersion` in the metadata; `nil` for the running
    /// app's version. It is recorded with the migrated values, so that steps between versions follow each other.
    public var dataVersion: String? {
        guard case .string(let version)? = metadata["dataVersion"]?.content else { return nil }
        return version
    }

    /// Creates a result.
    ///
    /// - Parameter outcome: If `nil`, `migrated` or `failed`, depending on `success`.
    public init(
        success: Bool, migratedCount: Int = 0, errors: [MigrationError] = [], metadata: [String: AnyCodable] = [:],
        duration: TimeInterval = 0, outcome: MigrationOutcome? = nil
    ) {
        self.success = success
        self.migratedCount = migratedCount
        self.errors = errors
        self.metadata = metadata
        self.duration = duration
        self.outcome = outcome ?? (success ? .migrated : .failed)
    }
}

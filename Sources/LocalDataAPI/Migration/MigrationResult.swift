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

/// The outcome of a requested migration.
public enum MigrationOutcome: Hashable, Sendable {
    /// The data is at its destination, and the sources are removed.
    case migrated
    /// The data is at its destination; the next run removes the sources.
    case cleanupPending
    /// The sources that an earlier run had left are now removed.
    case cleaned
    /// There was no data to migrate, or an earlier run migrated it.
    case nothingToDo
    /// The key has no migration.
    case noMigration
    /// The destination already has a value, which stays: see ``MigrationConflictPolicy/keepDestination``.
    case destinationKept
    /// The destination already has a value, which stays, and the sources are removed: see
    /// ``MigrationConflictPolicy/dropSource``.
    case sourceDropped
    /// The migration is not for this device.
    case skipped(reason: String)
    /// The migration failed; nothing has changed.
    case failed
}

extension MigrationOutcome: CustomStringConvertible {
    /// The outcome in words.
    public var description: String {
        switch self {
        case .migrated: "migrated"
        case .cleanupPending: "migrated, sources not yet removed"
        case .cleaned: "sources removed"
        case .nothingToDo: "nothing to do"
        case .noMigration: "no migration"
        case .destinationKept: "destination kept"
        case .sourceDropped: "destination kept, sources removed"
        case .skipped(let reason): "skipped: \(reason)"
        case .failed: "failed"
        }
    }
}

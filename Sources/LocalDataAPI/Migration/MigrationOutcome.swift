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

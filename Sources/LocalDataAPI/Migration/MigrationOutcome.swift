/// What became of a migration that was asked for.
public enum MigrationOutcome: Hashable, Sendable {
    /// The data is at its destination, and what the migration removes is removed.
    case migrated
    /// The data is at its destination; what the migration removes is still there, which the next run tries again.
    case cleanupPending
    /// What an earlier run had left to be removed is removed now.
    case cleaned
    /// There was no data to migrate, or it has been done.
    case nothingToDo
    /// The key has no migration.
    case noMigration
    /// The destination has a value, which stays: see ``MigrationConflictPolicy/keepDestination``.
    case destinationKept
    /// The destination has a value, which stays, and what the migration removes is removed: see
    /// ``MigrationConflictPolicy/dropSource``.
    case sourceDropped
    /// It was not for this device.
    case skipped(reason: String)
    /// It failed; nothing has changed.
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

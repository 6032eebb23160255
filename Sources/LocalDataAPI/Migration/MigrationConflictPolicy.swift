/// What happens if a migration has something to do and its destination has a value already.
public enum MigrationConflictPolicy: String, Codable, CaseIterable, Hashable, Sendable {
    /// The value stays, and so do the sources; the outcome says so.
    case keepDestination
    /// The value stays, and what the migration removes is removed; it is kept for as long as a migration can be rolled
    /// back. Nothing that the migration writes is written.
    case dropSource
    /// The value is replaced; it is kept for as long as a migration can be rolled back.
    case takeSource
    /// The migration fails with `conflict`.
    case fail
}

/// What happens if there is data to migrate and the destination already has a value.
public enum MigrationConflictPolicy: String, Codable, CaseIterable, Hashable, Sendable {
    /// The destination and the sources stay; the outcome reports it.
    case keepDestination
    /// The destination stays and the sources are removed. They are kept for as long as the migration can be rolled
    /// back. Nothing is written.
    case dropSource
    /// The destination is replaced. Its old value is kept for as long as the migration can be rolled back.
    case takeSource
    /// The migration fails with `conflict`.
    case fail
}

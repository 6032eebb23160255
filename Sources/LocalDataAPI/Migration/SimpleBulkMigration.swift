/// Moves all values of a range to another range unchanged.
public struct SimpleBulkMigration: BulkMigration {
    /// See ``BulkMigration/id``.
    public let id: String
    /// See ``BulkMigration/revision``.
    public let revision: Int
    /// See ``BulkMigration/summary``.
    public let summary: String
    /// Where the values are.
    public let source: MigrationRange
    /// Where the values go.
    public let destination: MigrationRange
    /// See ``BulkMigration/dependencies``.
    public let dependencies: [String]
    /// See ``BulkMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy
    /// Always `false`.
    public var changesValues: Bool { false }

    /// Declares a migration.
    ///
    /// - Parameter id: If `nil`, the addresses of both ranges.
    public init(
        id: String? = nil, from source: MigrationRange, to destination: MigrationRange, revision: Int = 1,
        summary: String = "", dependencies: [String] = [], conflictPolicy: MigrationConflictPolicy = .keepDestination
    ) {
        self.id = id ?? "\(destination) from \(source)"
        self.revision = revision
        self.summary = summary
        self.source = source
        self.destination = destination
        self.dependencies = dependencies
        self.conflictPolicy = conflictPolicy
    }
}

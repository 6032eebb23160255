/// Moves all values of a range to another one as they are.
public struct SimpleBulkMigration: BulkMigration {
    /// See ``BulkMigration/id``.
    public let id: String
    /// See ``BulkMigration/revision``.
    public let revision: Int
    /// See ``BulkMigration/summary``.
    public let summary: String
    /// Where the values are.
    public let source: MigrationRange
    /// Where they come to.
    public let destination: MigrationRange
    /// See ``BulkMigration/dependencies``.
    public let dependencies: [String]
    /// See ``BulkMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy
    /// It does not.
    public var changesValues: Bool { false }

    /// Declares a migration.
    ///
    /// - Parameter id: Both ranges' addresses if `nil`.
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

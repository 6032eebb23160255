#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type-erased bulk migration, for lists.
public struct AnyBulkMigration: Sendable {
    /// See ``BulkMigration/id``.
    public let id: String
    /// See ``BulkMigration/revision``.
    public let revision: Int
    /// See ``BulkMigration/summary``.
    public let summary: String
    /// See ``BulkMigration/fingerprint``.
    public let fingerprint: String?
    /// See ``BulkMigration/source``.
    public let source: MigrationRange
    /// See ``BulkMigration/destination``.
    public let destination: MigrationRange
    /// See ``BulkMigration/dependencies``.
    public let dependencies: [String]
    /// See ``BulkMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy
    /// See ``BulkMigration/changesValues``.
    public let changesValues: Bool
    /// The migration's pack; `nil` for the app's own. The loader of packs sets it.
    package var pack: MigrationPackIdentity?

    private let conversion: @Sendable (Data, String) throws -> Data

    /// Erases the type of a migration.
    public init(_ migration: some BulkMigration) {
        id = migration.id
        revision = migration.revision
        summary = migration.summary
        fingerprint = migration.fingerprint
        source = migration.source
        destination = migration.destination
        dependencies = migration.dependencies
        conflictPolicy = migration.conflictPolicy
        changesValues = migration.changesValues
        conversion = { try migration.convert($0, named: $1) }
    }

    /// A migration without a Swift type.
    package init(
        _ description: MigrationDescription, source: MigrationRange, destination: MigrationRange, changesValues: Bool,
        conversion: @escaping @Sendable (Data, String) throws -> Data
    ) {
        id = description.id
        revision = description.revision
        summary = description.summary
        fingerprint = description.fingerprint
        self.source = source
        self.destination = destination
        dependencies = description.dependencies
        conflictPolicy = description.conflictPolicy
        self.changesValues = changesValues
        self.conversion = conversion
    }

    /// See ``BulkMigration/convert(_:named:)``.
    public func convert(_ data: Data, named name: String) throws -> Data { try conversion(data, name) }

    /// The destination's name for a value of the source.
    package func destinationName(of name: String) -> String {
        destination.prefix + String(decoding: name.utf8.dropFirst(source.prefix.utf8.count), as: UTF8.self)
    }

    /// The source's name for a value of the destination.
    package func sourceName(of name: String) -> String {
        source.prefix + String(decoding: name.utf8.dropFirst(destination.prefix.utf8.count), as: UTF8.self)
    }

    /// Throws if the migration can never work.
    ///
    /// - Throws: `validationFailed` if it would weaken the protection of values, or if the destination is a part of the
    ///   source, so that it would move its own results again.
    public func validate() throws(MigrationError) {
        try MigrationUtils.validateCompatibility(
            from: source.key("").descriptor, to: destination.key("").descriptor, allowingOtherTypes: true)
        guard !id.isEmpty else { throw MigrationError(.validationFailed, "a bulk migration has an empty id") }
        guard source.domain != destination.domain || !destination.prefix.utf8.starts(with: source.prefix.utf8) else {
            throw MigrationError(
                .validationFailed, "it moves '\(source)' to '\(destination)', which is a part of it")
        }
    }
}

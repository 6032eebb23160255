/// A type-erased migration, for keys and lists.
public struct AnyStorageMigration: Sendable {
    /// The destination.
    public let destinationKey: AnyStorageKey
    /// See ``StorageMigration/id``.
    public let id: String
    /// See ``StorageMigration/revision``.
    public let revision: Int
    /// See ``StorageMigration/sources``.
    public let sources: [AnyStorageKey]
    /// See ``StorageMigration/dependencies``.
    public let dependencies: [String]
    /// See ``StorageMigration/conflictPolicy``.
    public let conflictPolicy: MigrationConflictPolicy
    /// See ``StorageMigration/effect``.
    public let effect: MigrationEffect
    /// See ``StorageMigration/summary``.
    public let summary: String
    /// See ``StorageMigration/fingerprint``.
    public let fingerprint: String?
    /// The migration's pack; `nil` for the app's own. The loader of packs sets it.
    package var pack: MigrationPackIdentity?
    /// What has made it.
    package let origin: MigrationOrigin
    /// Whether only its condition says if there is something to do, and not also what the ledger has of earlier runs.
    package var isRepeatable = false

    private let condition: @Sendable (any StorageProviding, MigrationContext) async throws -> Bool
    private let action: @Sendable (any StorageProviding, MigrationContext) async throws -> MigrationResult
    private let validation: @Sendable () throws(MigrationError) -> Void

    /// Erases the type of a migration.
    public init(_ migration: some StorageMigration) {
        destinationKey = AnyStorageKey(migration.destinationKey)
        id = migration.id
        revision = migration.revision
        sources = migration.sources
        dependencies = migration.dependencies
        conflictPolicy = migration.conflictPolicy
        effect = migration.effect
        summary = migration.summary
        fingerprint = migration.fingerprint
        origin = (migration as? any MadeMigration)?.origin ?? .declared
        condition = {
            guard try await migration.shouldMigrate(context: $1) else { return false }
            return try await migration.shouldMigrate(using: $0, context: $1)
        }
        action = { try await migration.migrate(using: $0, context: $1) }
        validation = { () throws(MigrationError) in try migration.validate() }
    }

    /// A migration without a Swift type.
    package init(
        _ description: MigrationDescription, destination: AnyStorageKey, sources: [AnyStorageKey],
        condition: @escaping @Sendable (any StorageProviding, MigrationContext) async throws -> Bool,
        action: @escaping @Sendable (any StorageProviding, MigrationContext) async throws -> MigrationResult,
        validation: @escaping @Sendable () throws(MigrationError) -> Void
    ) {
        destinationKey = destination
        id = description.id
        revision = description.revision
        self.sources = sources
        dependencies = description.dependencies
        conflictPolicy = description.conflictPolicy
        effect = description.effect
        summary = description.summary
        fingerprint = description.fingerprint
        origin = description.isOfContainer ? .container : .declared
        self.condition = condition
        self.action = action
        self.validation = validation
    }

    /// A migration to a key whose type is not known here.
    package init(_ migration: some UntypedMigration) {
        destinationKey = migration.destination
        id = migration.id
        revision = 1
        sources = migration.sources
        dependencies = []
        conflictPolicy = migration.conflictPolicy
        effect = .brings
        summary = migration.summary
        fingerprint = nil
        origin = migration.origin
        condition = { try await migration.shouldMigrate(using: $0, context: $1) }
        action = { try await migration.migrate(using: $0, context: $1) }
        validation = { () throws(MigrationError) in try migration.validate() }
    }

    /// The description of the destination.
    public var destinationDescriptor: StorageKeyDescriptor { destinationKey.descriptor }

    /// Whether there is something to do.
    public func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
        try await condition(router, context)
    }

    /// Runs the migration.
    public func migrate(
        using router: any StorageProviding, context: MigrationContext
    ) async throws -> MigrationResult {
        try await action(router, context)
    }

    /// Throws if the migration can never work.
    public func validate() throws(MigrationError) { try validation() }
}

/// Brings data to a key whose type is not known; see ``StorageMigration``.
package protocol UntypedMigration: MadeMigration, Sendable {
    var destination: AnyStorageKey { get }
    var id: String { get }
    var summary: String { get }
    var sources: [AnyStorageKey] { get }
    var conflictPolicy: MigrationConflictPolicy { get }

    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool
    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult
    func validate() throws(MigrationError)
}

extension UntypedMigration {
    package var conflictPolicy: MigrationConflictPolicy { .keepDestination }
}

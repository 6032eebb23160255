#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Moves all values of a namespace, or those whose names begin with a prefix. An app or a migration pack implements it
/// for values whose keys it does not know one by one.
///
/// The host reads, writes and removes in chunks. Each chunk takes effect as a whole or not at all. The host reads back
/// what it wrote, and only then removes those sources that nobody has changed. An interrupted run resumes where it
/// stopped. A name keeps what follows the prefix: moving from `old.` to `new.`, `old.theme` becomes `new.theme`.
///
/// ```swift
/// struct SettingsMove: BulkMigration {
///     let id = "settings to the database"
///     let source = MigrationRange(domain: .fileSystem(), prefix: "settings.")
///     let destination = MigrationRange(domain: .userDefaults(), prefix: "settings.")
/// }
/// ```
public protocol BulkMigration: Sendable {
    /// The migration's id in the ledger; never changes its meaning.
    var id: String { get }
    /// Increases when the migration's behaviour changes; 1 by default.
    var revision: Int { get }
    /// What the migration does, for people; empty by default.
    var summary: String { get }
    /// See ``StorageMigration/fingerprint``.
    var fingerprint: String? { get }
    /// Where the values are. Their store must be able to list them.
    var source: MigrationRange { get }
    /// Where the values go.
    var destination: MigrationRange { get }
    /// Ids of migrations that run before this one; none by default.
    var dependencies: [String] { get }
    /// What happens to a value whose destination exists; `keepDestination` by default.
    var conflictPolicy: MigrationConflictPolicy { get }
    /// Whether ``convert(_:named:)`` changes values; `true` by default. Values that do not change need not fit in
    /// memory.
    var changesValues: Bool { get }

    /// The bytes of a value at its destination; unchanged by default.
    ///
    /// The result must depend on nothing but the parameters, since an interrupted chunk runs again.
    ///
    /// - Parameter name: The value's name in the source.
    func convert(_ data: Data, named name: String) throws -> Data
}

extension BulkMigration {
    /// 1, the first revision.
    public var revision: Int { 1 }
    /// No summary.
    public var summary: String { "" }
    /// `nil`: the host uses the pack's file and options instead.
    public var fingerprint: String? { nil }
    /// No dependencies.
    public var dependencies: [String] { [] }
    /// Keeps the destination's value.
    public var conflictPolicy: MigrationConflictPolicy { .keepDestination }
    /// Assumes that it does.
    public var changesValues: Bool { true }

    /// The unchanged bytes.
    public func convert(_ data: Data, named name: String) throws -> Data { data }
}

/// The values of a namespace whose names begin with a prefix: a source or a destination of a bulk migration.
public struct MigrationRange: Hashable, Sendable {
    /// Where the values belong.
    public let domain: StorageDomain
    /// How their names begin; empty for all values of the namespace.
    public let prefix: String
    /// How they are protected.
    public let security: SecurityPolicy
    /// The format of their bytes.
    public let serializer: SerializerFormat

    /// Names a range.
    ///
    /// - Parameter security: If `nil`, the domain's own policy: sealed in `keychain` and `encryptedFileSystem`, plain
    ///   elsewhere.
    public init(
        domain: StorageDomain, prefix: String = "", security: SecurityPolicy? = nil,
        serializer: SerializerFormat = .json
    ) {
        self.domain = domain
        self.prefix = prefix
        self.security = security ?? domain.ownPolicy
        self.serializer = serializer
    }

    /// Whether a name is in the range, compared byte for byte.
    public func contains(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

    /// The key of a name in the range.
    package func key(_ name: String) -> AnyStorageKey {
        AnyStorageKey(
            StorageKeyDescriptor(
                name: name, domain: domain, security: security, serializer: serializer, owner: "", description: ""))
    }
}

extension MigrationRange: CustomStringConvertible {
    /// The domain and the prefix, e.g. `userDefaults/old.*`.
    public var description: String { "\(domain)/\(prefix)*" }
}

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

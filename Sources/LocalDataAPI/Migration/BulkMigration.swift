public import FoundationEssentials

/// Moves all values of a place, or those whose names begin with a prefix. This is what an app or a migration pack
/// implements for values whose keys it does not know one by one.
///
/// The host reads, writes and removes, in chunks: each takes effect as a whole or not at all, what was written is read
/// back, and only then the sources are removed that nobody has changed. An interrupted run is taken up where it
/// stopped. A name keeps what follows the prefix: `old.theme` becomes `new.theme` if `old.` is to become `new.`.
///
/// ```swift
/// struct SettingsMove: BulkMigration {
///     let id = "settings to the database"
///     let source = MigrationRange(domain: .fileSystem(), prefix: "settings.")
///     let destination = MigrationRange(domain: .userDefaults(), prefix: "settings.")
/// }
/// ```
public protocol BulkMigration: Sendable {
    /// What the ledger knows the migration by; never changes its meaning.
    var id: String { get }
    /// Counts up when the migration does something else than before; 1 if not given.
    var revision: Int { get }
    /// What it does, for people; empty if not given.
    var summary: String { get }
    /// See ``StorageMigration/fingerprint``.
    var fingerprint: String? { get }
    /// Where the values are. Its store has to be able to list them.
    var source: MigrationRange { get }
    /// Where they come to.
    var destination: MigrationRange { get }
    /// Ids of migrations that run before this one; none if not given.
    var dependencies: [String] { get }
    /// What happens to a value whose destination has one; `keepDestination` if not given.
    var conflictPolicy: MigrationConflictPolicy { get }
    /// Whether ``convert(_:named:)`` does anything; `true` if not given. Values that are moved as they are need not be
    /// in memory as a whole, whatever their size.
    var changesValues: Bool { get }

    /// The bytes of a value at its destination. They are as they were if this is not given.
    ///
    /// It depends on nothing else, since an interrupted chunk is run again.
    ///
    /// - Parameter name: The value's name in the source.
    func convert(_ data: Data, named name: String) throws -> Data
}

extension BulkMigration {
    /// The first.
    public var revision: Int { 1 }
    /// None.
    public var summary: String { "" }
    /// None: the pack's file and options stand for it.
    public var fingerprint: String? { nil }
    /// None.
    public var dependencies: [String] { [] }
    /// Keeps what is there.
    public var conflictPolicy: MigrationConflictPolicy { .keepDestination }
    /// It may.
    public var changesValues: Bool { true }

    /// The same bytes.
    public func convert(_ data: Data, named name: String) throws -> Data { data }
}

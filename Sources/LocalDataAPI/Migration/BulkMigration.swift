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

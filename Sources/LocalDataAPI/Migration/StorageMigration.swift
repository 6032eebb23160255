/// Brings older data to a key. This is what an app or a migration pack implements.
///
/// `router` is a transaction: it reads through to the stores, and nothing that is written or removed takes effect until
/// `migrate` has returned a result with `success`. So a migration may stop at any point, and may be run again. Whatever
/// it removes is removed last, after what it wrote has been read back.
///
/// ```swift
/// struct TokenMigration: StorageMigration {
///     let destinationKey: StorageKey<String> = .userToken
///     let legacyKey: StorageKey<String> = .legacyToken
///
///     func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool {
///         try await router.exists(legacyKey)
///     }
///     func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult {
///         try await router.set(try await router.get(legacyKey), for: destinationKey)
///         try await router.remove(legacyKey)
///         return MigrationResult(success: true, migratedCount: 1)
///     }
/// }
/// ```
public protocol StorageMigration: Sendable {
    /// The type of the migrated value.
    associatedtype Value: Codable & Sendable

    /// The key that the data comes to.
    var destinationKey: StorageKey<Value> { get }
    /// What the ledger knows the migration by; never changes its meaning. The destination and the type if not given.
    var id: String { get }
    /// Counts up when the migration does something else than before; 1 if not given. Data that a later revision brought
    /// is refused to an earlier one.
    var revision: Int { get }
    /// Where the data comes from, as far as it is known beforehand; none if not given. The version that wrote the data
    /// is looked up there, and a migration that is done is run again when one of them has data again.
    var sources: [AnyStorageKey] { get }
    /// Ids of migrations that run before this one; none if not given.
    var dependencies: [String] { get }
    /// What happens if the destination has a value and there is something to migrate; `keepDestination` if not given.
    var conflictPolicy: MigrationConflictPolicy { get }
    /// Whether it brings data to the destination or removes what is there; `brings` if not given.
    var effect: MigrationEffect { get }
    /// What it does, for people; empty if not given.
    var summary: String { get }
    /// Of one in a pack, what it does, as a text or a hash of one, for packs whose migrations are declared and not
    /// written: 1 to 256 bytes without control characters. It is another one if the migration does something else, and
    /// stays the same if only others of the pack change. If not given, the host takes the plugin's file and the pack's
    /// options for it.
    var fingerprint: String? { get }

    /// Whether there is something to do. There is no default, so that a misspelt condition does not compile.
    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool

    /// Whether the context allows it, for kinds of migrations whose condition on the sources is given, such as
    /// ``TransformingMigration``; `true` if not given. It is asked before the other one.
    func shouldMigrate(context: MigrationContext) async throws -> Bool

    /// Does it.
    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult

    /// Throws if the migration can never be right; asked when it is registered and before it runs. If not given, the
    /// sources are checked with ``MigrationUtils/validateCompatibility(from:to:)``, where other types are fine.
    func validate() throws(MigrationError)
}

extension StorageMigration {
    /// The destination's address and the migration's type.
    public var id: String { "\(destinationKey.domain)/\(destinationKey.name) \(Self.self)" }
    /// The first.
    public var revision: Int { 1 }
    /// None that are known.
    public var sources: [AnyStorageKey] { [] }
    /// None.
    public var dependencies: [String] { [] }
    /// Keeps what is there.
    public var conflictPolicy: MigrationConflictPolicy { .keepDestination }
    /// Brings data.
    public var effect: MigrationEffect { .brings }
    /// None.
    public var summary: String { "" }
    /// None: the pack's file and options stand for it.
    public var fingerprint: String? { nil }

    /// It does.
    public func shouldMigrate(context: MigrationContext) async throws -> Bool { true }

    /// Checks that no source is better protected than the destination.
    public func validate() throws(MigrationError) {
        for source in sources {
            try MigrationUtils.validateCompatibility(
                from: source.descriptor, to: .from(destinationKey), allowingOtherTypes: true)
        }
    }
}

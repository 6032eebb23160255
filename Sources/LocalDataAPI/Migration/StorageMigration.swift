/// Brings older data to a key. An app or a migration pack implements it.
///
/// `router` is a transaction: it reads from the stores, and nothing that is written or removed takes effect before
/// `migrate` returns a result with `success`. So a migration may stop at any point and run again. Removals happen last,
/// after the host has read back what was written.
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

    /// The destination.
    var destinationKey: StorageKey<Value> { get }
    /// The migration's id in the ledger; never changes its meaning. By default, the destination's address and the type.
    var id: String { get }
    /// Increases when the migration's behaviour changes; 1 by default. An earlier revision refuses data that a later
    /// one brought.
    var revision: Int { get }
    /// Where the data comes from, as far as known beforehand; none by default. The host looks up there which version
    /// wrote the data, and runs a completed migration again when a source has data again.
    var sources: [AnyStorageKey] { get }
    /// Ids of migrations that run before this one; none by default.
    var dependencies: [String] { get }
    /// What happens if there is data to migrate and the destination has a value; `keepDestination` by default.
    var conflictPolicy: MigrationConflictPolicy { get }
    /// Whether it writes the destination or removes it; `brings` by default.
    var effect: MigrationEffect { get }
    /// What the migration does, for people; empty by default.
    var summary: String { get }
    /// For packs whose migrations are declared rather than programmed: a text or hash that identifies what this
    /// migration does, 1 to 256 bytes without control characters. It changes exactly when this migration's behaviour
    /// changes. By default, the host uses the plugin's file and the pack's options instead.
    var fingerprint: String? { get }

    /// Whether there is data to migrate. There is no default, so that a misspelt condition does not compile.
    func shouldMigrate(using router: any StorageProviding, context: MigrationContext) async throws -> Bool

    /// Whether the context allows it; `true` by default. It is called before the other condition. Use it for kinds of
    /// migrations whose condition on the sources is given, such as ``TransformingMigration``.
    func shouldMigrate(context: MigrationContext) async throws -> Bool

    /// Runs the migration.
    func migrate(using router: any StorageProviding, context: MigrationContext) async throws -> MigrationResult

    /// Throws if the migration can never work. The host calls it at registration and before a run. By default it checks
    /// the sources with ``MigrationUtils/validateCompatibility(from:to:)``, but accepts different types.
    func validate() throws(MigrationError)
}

extension StorageMigration {
    /// The destination's address and the migration's type.
    public var id: String { "\(destinationKey.domain)/\(destinationKey.name) \(Self.self)" }
    /// 1, the first revision.
    public var revision: Int { 1 }
    /// No known sources.
    public var sources: [AnyStorageKey] { [] }
    /// No dependencies.
    public var dependencies: [String] { [] }
    /// Keeps the destination's value.
    public var conflictPolicy: MigrationConflictPolicy { .keepDestination }
    /// Writes the destination.
    public var effect: MigrationEffect { .brings }
    /// No summary.
    public var summary: String { "" }
    /// `nil`: the host uses the pack's file and options instead.
    public var fingerprint: String? { nil }

    /// Always allows it.
    public func shouldMigrate(context: MigrationContext) async throws -> Bool { true }

    /// Checks that no source is better protected than the destination.
    public func validate() throws(MigrationError) {
        for source in sources {
            try MigrationUtils.validateCompatibility(
                from: source.descriptor, to: .from(destinationKey), allowingOtherTypes: true)
        }
    }
}

/// Offers migrations to a host. This is the protocol that a migration plugin implements.
///
/// An implementation upholds:
///
/// - **Stable ids.** A migration's id never changes its meaning; a change of behaviour is a new revision.
/// - **Only the transaction.** A migration reads and writes only through the `router` that it receives, which is a
///   transaction: nothing takes effect before the migration returns success.
/// - **Repeatable.** The host may run it again over the same sources after a crash.
public protocol MigrationPack: Sendable {
    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Opens the pack.
    init(options: ComponentOptions, host: HostServices) throws

    /// The pack's migrations of single keys, in the order in which they should run.
    var migrations: [AnyStorageMigration] { get }
    /// The pack's bulk migrations, in the order in which they should run; none by default.
    var bulkMigrations: [AnyBulkMigration] { get }
}

extension MigrationPack {
    /// No bulk migrations.
    public var bulkMigrations: [AnyBulkMigration] { [] }
}

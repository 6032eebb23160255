/// Brings migrations to a host. This is the protocol that a migration plugin implements.
///
/// An implementation upholds:
///
/// - **Stable ids.** A migration's id never changes its meaning; a change of what it does is a new revision.
/// - **Only the transaction.** A migration reads and writes through the `router` that it is given, which is a
///   transaction: nothing takes effect until it has returned success. It touches no store by another way.
/// - **Repeatable.** It may be run again after a crash, over the same sources.
public protocol MigrationPack: Sendable {
    /// How the component presents itself.
    static var component: ComponentInfo { get }

    /// Opens the pack.
    init(options: ComponentOptions, host: HostServices) throws

    /// The migrations of the pack, in the order in which they are meant to run.
    var migrations: [AnyStorageMigration] { get }
    /// Those that move many values, in the order in which they are meant to run; none if not given.
    var bulkMigrations: [AnyBulkMigration] { get }
}

extension MigrationPack {
    /// None.
    public var bulkMigrations: [AnyBulkMigration] { [] }
}

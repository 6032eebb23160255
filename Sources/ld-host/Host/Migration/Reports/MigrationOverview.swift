public import LocalDataAPI

/// How every migration stands that is known here or recorded in a ledger.
public struct MigrationOverview: Sendable {
    /// Known migrations in the order of a run, then the others in the order of their last runs.
    public let migrations: [MigrationStatus]
    /// Why some ledgers could not be found, or some packs not be opened.
    public let failures: [StorageError]
}

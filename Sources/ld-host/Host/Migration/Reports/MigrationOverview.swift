public import LocalDataAPI

/// How every migration stands that is known here or recorded in a ledger.
public struct MigrationOverview: Sendable {
    /// Those that are known in the order of a run, then the others in the order of their last runs.
    public let migrations: [MigrationStatus]
    /// Why some ledgers could not be found, or some packs not be opened.
    public let failures: [StorageError]
}

/// What has been migrated, by whatever process.
public struct MigrationHistory: Sendable {
    /// In the order of the runs.
    public let records: [MigrationRecord]
    /// Why some ledgers could not be read.
    public let failures: [StorageError]
}

public import LocalDataAPI

/// The migrations of all processes.
public struct MigrationHistory: Sendable {
    /// In the order of the runs.
    public let records: [MigrationRecord]
    /// Why some ledgers could not be read.
    public let failures: [StorageError]
}

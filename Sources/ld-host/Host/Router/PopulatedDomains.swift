public import LocalDataAPI

/// The domains, with their scopes, that hold values.
public struct PopulatedDomains: Sendable {
    /// In the order of their addresses.
    public let domains: [StorageDomain]
    /// Why some stores could not be asked.
    public let failures: [StorageError]
}

/// A store that can check its data for damage. Ability `localdata.store.check/1`.
public protocol CheckableBackend: StorageBackend {
    /// Checks all data without changing it, and calls `report` with one line per problem until `report` returns
    /// `false`. A line contains names, never values. May take long; other callers can use the store meanwhile. Throws
    /// if the check itself fails.
    func check(_ report: (String) -> Bool) throws
}

/// A store that can look for damage in what it keeps. Ability `localdata.store.check/1`.
public protocol CheckableBackend: StorageBackend {
    /// Looks at everything that is kept, changes nothing, and calls `report` with a line for each thing that is wrong,
    /// until it returns `false`; not at all if all is well. A line has names, never values. May take long; others go on
    /// using the store meanwhile. Throws if it cannot be looked at.
    func check(_ report: (String) -> Bool) throws
}

/// A store that applies many changes at once. Ability `localdata.store.batch/1`.
public protocol BatchBackend: StorageBackend {
    /// Applies the changes in order, all or none, even across a crash. The last change of a key wins.
    func apply(_ changes: [StorageChange<Key>]) throws
}

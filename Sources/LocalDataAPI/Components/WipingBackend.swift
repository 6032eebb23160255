/// A store whose files can be cleared of what it has removed. Ability `localdata.store.wiping/1`.
public protocol WipingBackend: StorageBackend {
    /// Sees to it that the files in which the store keeps `place` hold nothing any more of values that were removed or
    /// replaced before: not in their free space, and not in logs. May take long. What a disk keeps of space that files
    /// gave back is beyond a store.
    ///
    /// - Throws: `busy` if another process stands in the way for long; then it can be tried again.
    func wipe(_ place: StorageNamespace) throws
}

/// A store that can erase what it has removed from its files. Ability `localdata.store.wiping/1`.
public protocol WipingBackend: StorageBackend {
    /// Erases removed and replaced values from the files in which the store keeps `place`: from their free space and
    /// from logs. May take long. Space that files have given back to the disk is beyond a store's reach.
    ///
    /// - Throws: `busy` if another process blocks it for long; the caller can try again.
    func wipe(_ place: StorageNamespace) throws
}

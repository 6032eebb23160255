/// A store that can list what it holds. Ability `localdata.store.enumeration/1`.
public protocol EnumerableBackend: StorageBackend {
    /// Hands out the names in `place` that start with `prefix` and come after `after`, ascending by their UTF-8 bytes,
    /// at most `limit`, until `body` returns `false`. A name that is there all the while is given exactly once; one
    /// that comes or goes meanwhile may be given or not. An unknown place has no names.
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool) throws

    /// Hands out every place of the store's own choosing (one without a `directory`) that holds a value, in any order,
    /// until `body` returns `false`.
    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws
}

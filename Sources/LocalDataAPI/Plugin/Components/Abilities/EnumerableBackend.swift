/// A store that can list what it holds. Ability `localdata.store.enumeration/1`.
public protocol EnumerableBackend: StorageBackend {
    /// Passes the names in `place` that start with `prefix` and sort after `after` to `body`, at most `limit` of them,
    /// until it returns `false`. The names ascend by their UTF-8 bytes. A name that exists throughout the call is
    /// passed exactly once; one that is added or removed meanwhile may be missing. An unknown namespace has no names.
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool) throws

    /// Passes every namespace that holds a value and has no `directory` to `body`, in any order, until it returns
    /// `false`.
    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws
}

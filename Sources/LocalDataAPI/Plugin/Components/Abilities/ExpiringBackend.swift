/// A store whose values can expire. Ability `localdata.store.expiry/1`.
///
/// From the moment that `ValueAttributes.expires` names, by the store's own clock, a value counts as absent:
///
/// - A call that reads one value throws ``ValueExpired``. The host then calls ``discard(_:)``, and reports that the
///   value is absent. So a value that a reader has found expired does not come back when a clock is set back.
/// - Listings and bulk reads leave it out. The host calls ``sweep(_:limit:)`` first.
/// - In a transaction, `get` returns `false`.
/// - A change treats it as absent: `remove` returns `false`, and the condition `absent` is fulfilled.
public protocol ExpiringBackend: AttributedBackend {
    /// Removes the value if it has expired. May wait.
    func discard(_ key: Key) throws

    /// Removes expired values: those of `place`, or all in namespaces without a folder if it is `nil`. Takes little
    /// time if there are none. May wait.
    ///
    /// - Returns: The number of removed values, at most `limit`.
    func sweep(_ place: StorageNamespace?, limit: Int) throws -> Int

    /// Passes the names of values in `place` that have expired and are still kept to `body`, each once and in any
    /// order, until it returns `false`.
    func forEachExpired(in place: StorageNamespace, _ body: (String) -> Bool) throws
}

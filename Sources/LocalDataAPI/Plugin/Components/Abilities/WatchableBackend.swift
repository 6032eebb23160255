/// A store that reports changes. Ability `localdata.store.watch/1`.
public protocol WatchableBackend: StorageBackend {
    /// A running watch.
    associatedtype Watch: Sendable

    /// Calls `changed` whenever a value in `place` whose name starts with `prefix` was set or removed, also by another
    /// process if the store is shared. `nil` means that anything may have changed. The call may come on any thread,
    /// even during a `set`. One call may report several changes; no change is left out.
    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> Watch

    /// Ends a watch; when it returns, `changed` is not running and will not run again.
    func unwatch(_ watch: Watch)
}

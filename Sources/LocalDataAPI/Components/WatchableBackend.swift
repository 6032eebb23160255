/// A store that tells of changes. Ability `localdata.store.watch/1`.
public protocol WatchableBackend: StorageBackend {
    /// What ends a watch.
    associatedtype Watch: Sendable

    /// Calls `changed` whenever a value in `place` whose name starts with `prefix` was set or removed, also by another
    /// process if the store is shared. `nil` means that anything may have changed. It may be called on any thread, also
    /// during a `set`. Changes may be told together, none is left out.
    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> Watch

    /// Ends a watch; when it returns, `changed` is not running and will not run again.
    func unwatch(_ watch: Watch)
}

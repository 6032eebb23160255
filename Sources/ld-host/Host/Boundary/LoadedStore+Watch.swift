internal import CLocalData
package import LocalDataAPI

extension LoadedStore {
    /// Calls `changed` with the name of each value in `place` that starts with `prefix` and was set or removed, or with
    /// `nil` if anything may have changed: on any thread, even during a `set`. It must not wait, and must not call the
    /// store.
    ///
    /// - Returns: The watch; it runs until it is passed to ``unwatch(_:)``.
    /// - Throws: `unsupported` if the store cannot watch, and whatever the store reports.
    package func watch(
        _ place: StorageNamespace, prefix: String = "", changed: @escaping @Sendable (String?) -> Void
    ) throws(StorageError) -> StoreWatch {
        guard let watch = abilities.watch else { throw lacks("watching") }
        let listener = StoreListener(identity, changed)
        var token: UnsafeMutableRawPointer?
        do throws(StorageError) {
            _ = try site("watch").call { error in
                place.withBoundary { place in
                    prefix.withBytes { prefix in
                        var watcher = ld_watcher(
                            size: UInt32(MemoryLayout<ld_watcher>.size), context: listener.context,
                            changed: takeChange)
                        return watch.watch(table.`self`, place, prefix, &watcher, &token, error)
                    }
                }
            }
        } catch {
            listener.end()
            throw error
        }
        return StoreWatch(token: token, listener: listener)
    }

    /// Ends a watch, once; when it returns, `changed` is not running and will not run again. May wait.
    package func unwatch(_ watch: StoreWatch) {
        site("unwatch").plain { abilities.watch?.unwatch(table.`self`, watch.token) }
        watch.listener.end()
    }
}

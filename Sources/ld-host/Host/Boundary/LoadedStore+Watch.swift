internal import CLocalData
package import LocalDataAPI

extension LoadedStore {
    /// Calls `changed` with the name of each value in `place` that starts with `prefix` and was set or removed, or with
    /// `nil` if anything may have changed: on any thread, also during a `set`. It must not wait and not call the store.
    ///
    /// - Returns: The watch; it goes on until it is given to ``unwatch(_:)``.
    /// - Throws: `unsupported` if the store cannot watch, and whatever the store reports.
    package func watch(
        _ place: StorageNamespace, prefix: String = "", changed: @escaping @Sendable (String?) -> Void
    ) throws(StorageError) -> StoreWatch {
        guard let watch = abilities.watch else { throw lacks("watching") }
        let listener = Unmanaged.passRetained(StoreListener(changed))
        var token: UnsafeMutableRawPointer?
        do throws(StorageError) {
            let status = try ReportSink.call { error in
                place.withBoundary { place in
                    prefix.withBytes { prefix in
                        var watcher = ld_watcher(
                            size: UInt32(MemoryLayout<ld_watcher>.size), context: listener.toOpaque(),
                            changed: tellListener)
                        return watch.watch(table.`self`, place, prefix, &watcher, &token, error)
                    }
                }
            }
            guard status == LD_OK else { throw stopped("watching '\(place)'") }
        } catch {
            listener.release()
            throw error
        }
        return StoreWatch(token: token, listener: listener)
    }

    /// Ends a watch, once; when it returns, `changed` is not running and will not run again. May wait.
    package func unwatch(_ watch: StoreWatch) {
        abilities.watch?.unwatch(table.`self`, watch.token)
        watch.listener.release()
    }
}

private func tellListener(context: UnsafeMutableRawPointer?, name: ld_bytes) {
    guard let context else { return }
    let listener = Unmanaged<StoreListener>.fromOpaque(context)
    // A name that is not UTF-8 is none that the host could ask for: anything may have changed.
    listener._withUnsafeGuaranteedRef { $0.changed(name.count == 0 ? nil : name.text) }
}

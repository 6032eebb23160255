package import LocalDataAPI

/// This process's changes are reported at once, with their names. Other processes' changes are reported within about a
/// second, as "anything may have changed".
extension SQLiteStore: WatchableBackend {
    package func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> ChangeWatch {
        let place = try self.place(place)
        let watch = ChangeWatch(place: place, prefix: prefix, changed)
        try place.database.changes.add(watch, of: place.database)
        return watch
    }

    package func unwatch(_ watch: ChangeWatch) {
        watch.place.database.changes.remove(watch)
        watch.end()
    }
}

internal import LocalDataAPI

extension StoreAccess {
    /// Applies the changes, all or none; each is of a different value.
    ///
    /// - Parameter views: The views that they are based on.
    /// - Returns: Whether the views were still current; if not, nothing has changed.
    @discardableResult
    func apply(
        _ all: [BatchChange], views: [StoreView] = [], progress: @escaping @Sendable () -> Void = {}
    ) async throws(StorageError) -> Bool {
        guard !all.isEmpty else { return true }
        let run = BatchRun(snapshot: snapshot, changes: all, views: views, progress: progress)
        let store = all[0].resolved.open
        guard all.allSatisfy({ $0.resolved.open === store }), views.allSatisfy({ $0.scope.open === store }) else {
            return try await onIOThread { () throws(StorageError) in try run.run() }
        }
        return try await store.wait("applying a batch of \(all.count) changes to store '\(store.name)'") {
            () throws(StorageError) in try run.run()
        }
    }
}

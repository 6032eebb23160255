internal import HostGround
internal import HostPlugins
package import LocalDataAPI

extension StoreAccess {
    /// Applies the changes, all or none; each is of a different value.
    ///
    /// - Parameter views: The views that they are based on.
    /// - Returns: Whether the views were still current; if not, nothing has changed.
    @discardableResult
    package func apply(
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

/// One batch with resolved keys, at most one change per value. Every call may wait.
package struct BatchRun {
    let snapshot: RouterSnapshot
    let changes: [BatchChange]
    /// The views that the changes are based on, one per scope.
    var views: [StoreView] = []
    let progress: @Sendable () -> Void

    package init(
        snapshot: RouterSnapshot,
        changes: [BatchChange],
        views: [StoreView] = [],
        progress: @escaping @Sendable () -> Void
    ) {
        self.snapshot = snapshot
        self.changes = changes
        self.views = views
        self.progress = progress
    }

    /// - Returns: Whether the views were still current; if not, nothing has changed.
    /// - Throws: Why the batch does not take effect; then nothing has changed. `durabilityUnknown` if it is decided but
    ///   not completely in place.
    @discardableResult
    package func run() throws(StorageError) -> Bool {
        // First complete interrupted batches where possible: they came earlier.
        BatchRecovery(snapshot: snapshot).recoverAll()
        let seals = BatchSeals(changes, keychain: snapshot.settings.routes["keychain"]?.store.name)
        return try seals.whileSealing { (keys) throws(StorageError) in
            let all = try StagedGroup.all(of: changes, keys, progress: progress)
            if all.count == 1, all[0].open.store.abilities.batch != nil || changes.count == 1 {
                let others = views.filter { $0.scope != all[0].scope }
                for view in others where try !view.holds() { return false }
                guard let view = views.first(where: { $0.scope == all[0].scope }) else {
                    try all[0].applyAtOnce()
                    return true
                }
                return try view.apply(all[0].changes)
            }
            return try StagedBatch.run(snapshot, all, views: views)
        }
    }
}

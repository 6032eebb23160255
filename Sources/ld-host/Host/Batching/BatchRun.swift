internal import LocalDataAPI

/// One batch, whose keys are resolved and of which each value changes once. Everything may wait.
struct BatchRun {
    let snapshot: RouterSnapshot
    let changes: [BatchChange]
    /// What the changes follow from; of each scope one.
    var views: [StoreView] = []
    let progress: @Sendable () -> Void

    /// - Returns: Whether what the changes follow from was still so; if not, nothing has changed.
    /// - Throws: What keeps the batch from taking effect; then nothing has changed. `durabilityUnknown` if it is
    ///   decided and not all in place yet.
    @discardableResult
    func run() throws(StorageError) -> Bool {
        // What an earlier one left half done is completed first, if it can be: it came before.
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
            return try StagedBatch(snapshot: snapshot, groups: all, views: views).run()
        }
    }
}

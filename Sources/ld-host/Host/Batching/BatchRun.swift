internal import LocalDataAPI

/// One batch, whose keys are resolved and of which each value changes once. Everything may wait.
struct BatchRun {
    let snapshot: RouterSnapshot
    let changes: [BatchChange]
    let progress: @Sendable () -> Void

    /// - Throws: What keeps the batch from taking effect; then nothing has changed. `durabilityUnknown` if it is decided
    ///   and not all in place yet.
    func run() throws(StorageError) {
        // What an earlier one left half done is completed first, if it can be: it came before.
        BatchRecovery(snapshot: snapshot).recoverAll()
        let seals = BatchSeals(changes, keychain: snapshot.settings.routes["keychain"]?.store.name)
        try seals.whileSealing { (keys) throws(StorageError) in
            var groups: [ObjectIdentifier: StagedGroup] = [:]
            for change in changes {
                let open = change.resolved.open
                groups[ObjectIdentifier(open), default: StagedGroup(open)].add(
                    try change.change(keys), at: change.resolved.address)
                progress()
            }
            let all = groups.values.sorted { $0.open.name < $1.open.name }
            if all.count == 1, all[0].open.store.abilities.batch != nil || changes.count == 1 {
                return try all[0].applyAtOnce()
            }
            try StagedBatch(snapshot: snapshot, groups: all).run()
        }
    }
}

package import HostGround
internal import LocalDataAPI

/// A batch that no store can apply in one step. The order of steps makes it atomic: write the journal's entry, stage
/// the changes beside the values, mark the entry as decided, put the changes in place, remove the entry.
package struct StagedBatch {
    let snapshot: RouterSnapshot
    let groups: [StagedGroup]
    /// The views that the changes are based on.
    var views: [StoreView] = []

    /// - Returns: Whether the views were still current; if not, nothing has changed.
    @discardableResult
    func run() throws(StorageError) -> Bool {
        try Self.lock(snapshot).exclusive { (file) throws(StorageError) in
            try Self.noteDecision(file)
            return try runAlone()
        }
    }

    /// Lets a batch that stages its changes without the lock notice that another one has changed values since.
    static func noteDecision(_ file: borrowing LockedFile) throws(StorageError) {
        try file.setNumber(try file.number() &+ 1)
    }

    /// Held from the decision until everything is in place: of two batches that change the same values, one completely
    /// follows the other. A process takes the rings before this lock.
    package static func lock(_ snapshot: RouterSnapshot) -> FileLock {
        FileLock("\(snapshot.settings.folders.state)/batch.lock")
    }

    private func runAlone() throws(StorageError) -> Bool {
        guard let intent = try decideIfUnchanged() else { return false }
        do throws(StorageError) {
            for group in groups { try StagedPlace(intent.id, in: group.scope).publish(group.addresses) }
            try intent.finish()
            return true
        } catch {
            throw Self.unfinished(error)
        }
    }

    /// Stages the changes and marks the entry as decided: from then on they take effect even after a crash.
    ///
    /// - Throws: The error of a failed step, or `busy` if a view is no longer current; then nothing has changed.
    func decide() throws(StorageError) -> Intent {
        if let intent = try decideIfUnchanged() { return intent }
        throw StorageError(.busy, "a value that the batch is based on was changed meanwhile", hint: "start again")
    }

    /// Decides the batch; `nil` if a view is no longer current.
    private func decideIfUnchanged() throws(StorageError) -> Intent? {
        var entry = BatchIntent(groups)
        let journal = try BatchIntent.journal(snapshot.settings)
        AbandonedBatch.warn(of: groups.map(\.scope), snapshot)
        let intent = try journal.begin(kind: BatchIntent.kind, subject: entry.subject, payload: entry.encoded())
        do throws(StorageError) {
            for group in groups { try group.stage(in: StagedPlace(intent.id, in: group.scope)) }
            // A process that changes one of the values after the staging comes after the batch; this finds earlier
            // changes.
            for view in views where try !view.holds() {
                clear(intent)
                return nil
            }
            entry.isDecided = true
            try intent.update(payload: entry.encoded())
        } catch {
            guard error.code != .durabilityUnknown || !entry.isDecided else { throw Self.unfinished(error) }
            clear(intent)
            throw error
        }
        return intent
    }

    /// If something cannot be discarded here, the recovery of the entry does it.
    private func clear(_ intent: Intent) {
        do throws(StorageError) {
            for group in groups { try StagedPlace(intent.id, in: group.scope).clear(group.addresses.count) }
            try intent.finish()
        } catch {
            snapshot.log(.warning, "batch", "the staged values of \(intent.subject) are still there: \(error.message)")
        }
    }

    /// The error for a decided batch that could not be completed.
    static func unfinished(_ error: StorageError) -> StorageError {
        StorageError(
            .durabilityUnknown,
            "the batch is decided, but some of its values are not in place yet; a store reported: "
                + error.message,
            hint: "the next program that opens these stores, or the next batch, completes it; see: ld-host doctor")
    }
}

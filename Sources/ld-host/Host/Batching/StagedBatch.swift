internal import LocalDataAPI

/// A batch that no store can apply in one step. The order makes it all or nothing: the journal's entry, the changes
/// beside the values, the entry marked as decided, then the changes put in place, and the entry removed.
struct StagedBatch {
    let snapshot: RouterSnapshot
    let groups: [StagedGroup]
    /// What the changes follow from.
    var views: [StoreView] = []

    /// - Returns: Whether what the changes follow from was still so; if not, nothing has changed.
    @discardableResult
    func run() throws(StorageError) -> Bool {
        try Self.lock(snapshot).exclusive { (_) throws(StorageError) in try runAlone() }
    }

    /// Held from the decision until all is in place: of two batches that change the same values, one comes after the
    /// other as a whole. Whoever takes it holds the rings already.
    static func lock(_ snapshot: RouterSnapshot) -> FileLock {
        FileLock("\(snapshot.settings.folders.state)/batch.lock")
    }

    private func runAlone() throws(StorageError) -> Bool {
        guard let intent = try decideIfUnchanged() else { return false }
        do throws(StorageError) {
            for group in groups { try StagedPlace(intent.id, in: group.scope).publish(group.addresses) }
            try intent.finish()
            return true
        } catch {
            throw unfinished(error)
        }
    }

    /// Puts the changes beside the values and marks the entry as decided: from then on they take effect, whatever
    /// comes.
    ///
    /// - Throws: What keeps one of the steps from being made, or `busy` if what they follow from has changed; then
    ///   nothing has changed.
    func decide() throws(StorageError) -> Intent {
        if let intent = try decideIfUnchanged() { return intent }
        throw StorageError(.busy, "what the batch follows from was changed meanwhile", hint: "begin anew")
    }

    /// The same; `nil` if what the changes follow from is no longer so.
    private func decideIfUnchanged() throws(StorageError) -> Intent? {
        var entry = BatchIntent(groups)
        let journal = try IntentJournal(folder: snapshot.settings.folders.journal)
        let intent = try journal.begin(kind: BatchIntent.kind, subject: entry.subject, payload: entry.encoded())
        do throws(StorageError) {
            for group in groups { try group.stage(in: StagedPlace(intent.id, in: group.scope)) }
            // Whoever changes one of the values after they were staged comes after the batch; this finds who came
            // before.
            for view in views where try !view.holds() {
                clear(intent)
                return nil
            }
            entry.isDecided = true
            try intent.update(payload: entry.encoded())
        } catch {
            guard error.code != .durabilityUnknown || !entry.isDecided else { throw unfinished(error) }
            clear(intent)
            throw error
        }
        return intent
    }

    /// What cannot be cleared is cleared by whoever recovers the entry.
    private func clear(_ intent: Intent) {
        do throws(StorageError) {
            for group in groups { try StagedPlace(intent.id, in: group.scope).clear(group.addresses.count) }
            try intent.finish()
        } catch {
            snapshot.log(.warning, "batch", "what \(intent.subject) has put aside is still there: \(error.message)")
        }
    }

    private func unfinished(_ error: StorageError) -> StorageError {
        StorageError(
            .durabilityUnknown,
            "the batch is decided, and some of its values are not in place yet; what a store says of its part: "
                + error.message,
            hint: "it is completed when a program opens these stores, or with the next batch; see: ld-host doctor")
    }
}

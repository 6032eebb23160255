internal import HostGround
internal import HostPlugins
internal import HostSealing
package import LocalDataAPI

/// Completes interrupted batches that were decided, and discards those that were not. Every call may wait.
package struct BatchRecovery {
    let snapshot: RouterSnapshot

    package init(snapshot: RouterSnapshot) {
        self.snapshot = snapshot
    }

    /// Recovers all interrupted batches; another process may do so first. If one cannot be completed, that is logged
    /// and does not affect the others: its store may be one that nobody else needs.
    package func recoverAll() {
        do throws(StorageError) {
            let journal = try BatchIntent.journal(snapshot.settings)
            for pending in try journal.pending(kind: BatchIntent.kind) where pending.state == .interrupted {
                recover(pending, of: journal)
            }
        } catch {
            snapshot.log(.warning, "batch", error.message)
        }
    }

    /// Recovers all interrupted batches, and makes each open store complete its own committed batches whose owner has
    /// died since the store was opened. A store does that before it begins a transaction; a mere read would see a part
    /// of the batch.
    package func recoverAndSettle() {
        recoverAll()
        for slot in snapshot.stores {
            guard let open = slot.current, open.store.abilities.transactions != nil else { continue }
            do throws(StorageError) { open.store.rollback(try open.store.begin()) } catch {
                snapshot.log(.warning, "batch", error.message)
            }
        }
    }

    private func recover(_ pending: PendingIntent, of journal: IntentJournal) {
        do throws(StorageError) {
            let intent = try journal.adopt(pending.id)
            try recover(intent)
            try intent.finish()
        } catch {
            guard error.code != .notFound, error.code != .busy else { return }
            snapshot.log(.warning, "batch", "\(pending.subject) is not completed: \(error.message)")
        }
    }

    /// Completes or discards one batch.
    package func recover(_ intent: Intent) throws(StorageError) {
        let entry = try BatchIntent(intent.payload, of: intent.id)
        var groups: [(scope: AtomicScope, store: BatchIntent.Store)] = []
        for store in entry.stores {
            groups.append((AtomicScope(try open(store, for: entry), directory: store.folder), store))
        }
        try whileAlone(groups.map(\.scope.open)) { () throws(StorageError) in
            for (scope, store) in groups {
                let place = StagedPlace(intent.id, in: scope)
                try entry.isDecided ? place.publish(store.count) : place.clear(atMost: store.count)
            }
        }
    }

    private func open(_ store: BatchIntent.Store, for entry: BatchIntent) throws(StorageError) -> OpenStore {
        for slot in snapshot.stores {
            // The name may differ, or belong to another store now; the store's identity counts.
            guard let open = try? slot.openIfNeeded(), open.identity == store.identity else { continue }
            return open
        }
        if let slot = snapshot.slot(ofStore: store.name) { _ = try slot.openIfNeeded() }
        throw StorageError(
            .storeUnavailable,
            "\(entry.subject(isExact: entry.isDecided)) was interrupted, and the store '\(store.name)' is no longer "
                + "configured as before",
            hint: "configure it again, under any name, so that the batch can be completed")
    }

    /// Blocks re-encryption, as every writer does, and other batches meanwhile.
    private func whileAlone(
        _ stores: [OpenStore], _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let keychain = snapshot.settings.routes["keychain"]?.store.name
        let ofStores = stores.compactMap { open in open.sealing.map { (open.name == keychain, $0.ring) } }
            .sorted { ($0.0 ? 1 : 0, $0.1.file) < ($1.0 ? 1 : 0, $1.1.file) }.map(\.1)
        // Without a keychain there are no master keys, so nobody re-encrypts.
        let master = (try? snapshot.rings.ring(named: snapshot.rings.current)).map { [$0] } ?? []
        try Self.whileStanding((master + ofStores)[...]) { () throws(StorageError) in
            try StagedBatch.lock(snapshot).exclusive { (file) throws(StorageError) in
                try StagedBatch.noteDecision(file)
                try body()
            }
        }
    }

    private static func whileStanding(
        _ rings: ArraySlice<KeyRing>, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let ring = rings.first else { return try body() }
        try ring.whileStanding { () throws(StorageError) in try whileStanding(rings.dropFirst(), body) }
    }
}

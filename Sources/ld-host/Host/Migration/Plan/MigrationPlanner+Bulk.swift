internal import ByteCoding
internal import FoundationEssentials
internal import LocalDataAPI

extension MigrationPlanner {
    /// What a migration of many keys would move: how many, and not which. No value is read or converted, and what comes
    /// after it sees the values where they are now.
    func entry(of migration: AnyBulkMigration) async throws -> MigrationPlan.Entry {
        try migration.validate()
        let ledger = try await engine.bulkLedger(of: migration)
        let row = try await ledger.ledger.page()[migration.id]
        try row?.requireNoLater(than: migration.revision, at: "\(migration.destination)")
        let others = engine.registry.bulkMigrations
        let after = row?.state == .published && row?.revision == migration.revision ? row?.bulk?.after : nil
        let waiting = try await engine.waitingNames(migration)
        let counts = try await onIOThread { () throws(StorageError) in
            Result {
                try BulkCount(ledger: ledger, planned: planned, waiting: waiting).run(besides: others, after: after)
            }
        }.get()
        let (moved, kept, dropped) = (counts.moved, counts.kept, counts.dropped)
        let rest =
            (dropped == 0 ? "" : "; \(dropped) removed, as their destination has a value")
            + (kept == 0 ? "" : "; \(kept) stay, as their destination has a value, or was set or removed without them")
        switch (moved + dropped, kept) {
        case (1..., _):
            try row?.requireSamePack(as: migration)
            return MigrationPlan.Entry(
                .bulk(migration), .run,
                because: "\(moved) value\(moved == 1 ? " goes" : "s go") from '\(migration.source)' to "
                    + "'\(migration.destination)'\(rest)", count: moved)
        case (_, _) where row?.bulk?.isOpen == true:
            return MigrationPlan.Entry(
                .bulk(migration), .cleanup,
                because: "a run was interrupted before it removed the last values that it had moved",
                count: 0)
        case (_, 1...):
            return MigrationPlan.Entry(
                .bulk(migration), .destinationKept,
                because:
                    "each of \(kept) values has one at its destination, which stays, or that was set or removed without "
                    + "it; so the sources stay",
                count: 0)
        default:
            return MigrationPlan.Entry(
                .bulk(migration), .nothingToDo, because: "no value is stored at '\(migration.source)'", count: 0)
        }
    }
}

/// Counts what a migration of many keys would move. Calls may wait.
private struct BulkCount {
    let ledger: BulkLedger
    let planned: PlannedChanges
    /// The names of those that are left to the device that leads the sync group.
    private let waiting: Set<String>
    private(set) var moved = 0
    private(set) var kept = 0
    private(set) var dropped = 0
    private var superseded = SupersededValues()

    init(ledger: BulkLedger, planned: PlannedChanges, waiting: Set<String>) {
        (self.ledger, self.planned, self.waiting) = (ledger, planned, waiting)
    }

    /// - Parameter after: Where an interrupted run goes on.
    func run(besides others: [AnyBulkMigration], after: String?) throws -> BulkCount {
        let policy = ledger.migration.conflictPolicy
        _ = try BulkCheck(ledger: ledger, policy: policy, others: others).run(counting: true)
        var failure: (any Error)?
        var changed = planned.changes(in: ledger.source.namespace, of: ledger.source.open)
        var count = self
        count.superseded = try SupersededValues(ledger)
        try ledger.source.forEachName(after: after) { name in
            if changed.removeValue(forKey: name) == false { return true }
            do { try count.add(name, policy) } catch {
                failure = error
                return false
            }
            return true
        }
        if let failure { throw failure }
        // What earlier migrations would put there.
        for (name, isSet) in changed where isSet && ledger.migration.source.contains(name) {
            try count.add(name, policy)
        }
        return count
    }

    private mutating func add(_ name: String, _ policy: MigrationConflictPolicy) throws {
        guard !waiting.contains(name) else { return }
        guard policy == .keepDestination || policy == .dropSource || superseded.knows(name) else {
            moved += 1
            return
        }
        let key = try ledger.destination.key(ledger.migration.destinationName(of: name))
        let isThere = if let change = planned.change(of: key) { change.isSet } else { try key.readStored() != nil }
        switch try MigrationVerdict(policy, isThere: isThere, isSuperseded: isSuperseded(name, isThere: isThere)) {
        case .bring, .refuse: moved += 1
        case .drop: dropped += 1
        case .keep: kept += 1
        }
    }

    private func isSuperseded(_ name: String, isThere: Bool) throws(StorageError) -> Bool {
        guard superseded.knows(name) else { return false }
        let source = try ledger.source.key(name)
        return try source.readStored().map { superseded.holds(source, $0, besidesValue: isThere) } ?? false
    }
}

internal import ByteCoding
internal import HostGround
internal import LocalDataAPI

extension MigrationPlanner {
    /// What a migration of many keys would move: how many, and not which.
    ///
    /// - Parameter isFollowed: Whether others are planned after it, which see the values where they would be then.
    ///   Otherwise no value is read.
    func entry(of migration: AnyBulkMigration, isFollowed: Bool) async throws -> MigrationPlan.Entry {
        try migration.validate()
        let ledger = try await engine.bulkLedger(of: migration)
        let row = try await ledger.ledger.page()[migration.id]
        try row?.requireNoLater(than: migration.revision, at: "\(migration.destination)")
        let others = engine.registry.bulkMigrations
        let after = row?.state == .published && row?.revision == migration.revision ? row?.bulk?.after : nil
        let waiting = try await engine.waitingNames(migration)
        let counts = try await onIOThread { () throws(StorageError) in
            Result {
                try BulkCount(ledger: ledger, planned: planned, waiting: waiting, isFollowed: isFollowed)
                    .run(besides: others, after: after)
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

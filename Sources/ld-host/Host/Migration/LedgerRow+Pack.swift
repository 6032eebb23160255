internal import LocalDataAPI

extension LedgerRow {
    /// Refuses to run a migration again that its pack does otherwise than it did, and does not say so.
    ///
    /// - Throws: `packUnavailable` naming the pack and both builds of it. What was rolled back counts as not done.
    func requireSamePack(as migration: AnyStorageMigration) throws(MigrationError) {
        guard let ran = pack, let now = migration.pack, state != .rolledBack, revision == migration.revision,
            ran.checksum != now.checksum
        else { return }
        throw MigrationError(
            .packUnavailable,
            "the pack '\(now.name)' has changed without a new revision of it: revision \(revision) was done by "
                + "'\(ran)' (\(ran.component), checksum \(ran.checksum)), and would be done again by '\(now)' "
                + "(\(now.component), checksum \(now.checksum)); use the pack that did it, or raise the revision if what it "
                + "does has changed")
    }
}

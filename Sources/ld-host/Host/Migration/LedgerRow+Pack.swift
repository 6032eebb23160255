internal import LocalDataAPI

extension LedgerRow {
    /// Refuses to run a migration again that its pack does otherwise than it did, and does not say so.
    ///
    /// What it does is its fingerprint, if the pack gives it one and gave it one then; otherwise the plugin's file with
    /// the pack's options.
    ///
    /// - Throws: `packUnavailable` naming the pack, the migration, and both ways. What was rolled back counts as not
    ///   done.
    func requireSamePack(as migration: AnyStorageMigration) throws(MigrationError) {
        try requireSame(pack: migration.pack, revision: migration.revision)
    }

    /// The same for many keys.
    func requireSamePack(as migration: AnyBulkMigration) throws(MigrationError) {
        try requireSame(pack: migration.pack, revision: migration.revision)
    }

    private func requireSame(
        pack current: MigrationPackIdentity?, revision present: Int
    ) throws(MigrationError) {
        guard let ran = pack, let now = current, state != .rolledBack, revision == present else {
            return
        }
        guard let before = ran.fingerprint, let fingerprint = now.fingerprint, ran.component == now.component else {
            return try requireSameBuild(ran, now)
        }
        guard before != fingerprint else { return }
        throw MigrationError(
            .packUnavailable,
            "the pack '\(now.name)' has changed its migration '\(id)' without a new revision of it: revision \(revision) "
                + "was done by '\(ran)' with the fingerprint \(before), and would be done again by '\(now)' with "
                + "\(fingerprint); take the change back, or raise the revision if what it does has changed")
    }

    private func requireSameBuild(
        _ ran: MigrationPackIdentity, _ now: MigrationPackIdentity
    ) throws(MigrationError) {
        guard ran.checksum != now.checksum else { return }
        throw MigrationError(
            .packUnavailable,
            "the pack '\(now.name)' has changed without a new revision of it: revision \(revision) was done by "
                + "'\(ran)' (\(ran.component), checksum \(ran.checksum)), and would be done again by '\(now)' "
                + "(\(now.component), checksum \(now.checksum)); use the pack that did it, or raise the revision if what it "
                + "does has changed")
    }
}

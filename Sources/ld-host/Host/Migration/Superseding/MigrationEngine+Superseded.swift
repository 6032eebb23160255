internal import FoundationEssentials
internal import LocalDataAPI

/// Whether older data is superseded.
extension MigrationEngine {
    /// Whether a migration would bring nothing but what its key was set or removed without, to a key that has no value,
    /// or has one of the device that led the sync group then.
    func isSuperseded(
        _ migration: AnyStorageMigration, at destination: ResolvedKey, _ page: LedgerPage
    ) async throws(StorageError) -> Bool {
        guard let row = page[migration.id], let marks = row.superseded else { return false }
        if try await bringsNewer(migration) { return false }
        if row.wasLedByOther != true, try await destination.exists() { return false }
        return try await isSuperseded(marks, sources: migration.sources, besides: destination, in: destination.open)
    }

    /// The same as the ledgers of other stores say it, of a migration that its own ledger has nothing of: one of them
    /// may have served the domain before, and a removal leaves nothing that a copy would take along.
    func isSupersededElsewhere(
        _ migration: AnyStorageMigration, at destination: ResolvedKey, _ page: LedgerPage
    ) async throws(StorageError) -> Bool {
        guard page[migration.id] == nil, try await !destination.exists(), try await !bringsNewer(migration) else {
            return false
        }
        if let (marks, open) = await supersededElsewhere(migration.id, destination) {
            return try await isSuperseded(marks, sources: migration.sources, besides: destination, in: open)
        }
        // Where the key was before, it may have been removed before anything was brought to it.
        for former in try await formerDestinations(of: migration.destinationDescriptor, at: destination.address.place) {
            for marks in try await Ledger(access, of: former).page().rows.compactMap(\.superseded)
            where try await isSuperseded(marks, sources: migration.sources, besides: destination, in: former.open) {
                return true
            }
        }
        return false
    }

    /// The rows of other stores' ledgers; a store that cannot be read has none.
    private func supersededElsewhere(
        _ id: String, _ destination: ResolvedKey
    ) async -> (marks: [LedgerRow.Change], open: OpenStore)? {
        let domain = destination.address.place.domain
        let snapshot = snapshot
        guard let stores = try? await onIOThread({ () throws(StorageError) in snapshot.holders(of: domain) })
        else { return nil }
        for open in stores {
            guard let ledger = try? Ledger(access, of: "\(destination.address)", in: open) else { continue }
            if let marks = try? await ledger.page()[id]?.superseded { return (marks, open) }
        }
        return nil
    }

    /// The same for one value of a migration of many.
    func isSuperseded(
        _ key: AnyStorageKey, by migration: AnyBulkMigration
    ) async throws(StorageError) -> Bool {
        let destination = try await access.resolve(KeyReference(key))
        let row = try await Ledger(access, of: destination).page()[migration.id]
        let elsewhere = row == nil ? await supersededElsewhere(migration.id, destination) : nil
        guard let (marks, open) = row?.superseded.map({ ($0, destination.open) }) ?? elsewhere else { return false }
        let source = migration.source.key(migration.sourceName(of: key.descriptor.name))
        return try await isSuperseded(marks, sources: [source], besides: destination, in: open)
    }

    /// - Parameter open: The store whose ledger says so.
    private func isSuperseded(
        _ marks: [LedgerRow.Change], sources: [AnyStorageKey], besides destination: ResolvedKey, in open: OpenStore
    ) async throws(StorageError) -> Bool {
        var known: [BatchChange.Target: LedgerRow.Change] = [:]
        var keys = sources
        for change in marks {
            let key = try change.key
            known[try await access.resolveUnlisted(KeyReference(key)).target] = change
            keys.append(key)
        }
        for key in keys {
            let source = try await access.resolveUnlisted(KeyReference(key))
            guard source.target != destination.target, let mark = try await source.mark() else { continue }
            guard let change = known[source.target] else { return false }
            if change.before == mark { continue }
            guard await SourceWitness.knows(source, change.witness, of: destination, in: open) else {
                return false
            }
        }
        return true
    }
}

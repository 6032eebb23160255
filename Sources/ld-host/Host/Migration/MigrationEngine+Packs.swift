internal import FoundationEssentials
internal import HostGround
internal import HostPlugins
package import HostStores
package import LocalDataAPI

/// The migrations of the configured packs.
extension MigrationEngine {
    /// Whether a key that has no value may get one by a migration. Opens no pack.
    package func mayBringData<Value>(to key: StorageKey<Value>) async throws -> Bool {
        try await mayBringData(key.hasMigration, key.owner, key.name, key.domain)
    }

    /// The same for a key without its type.
    package func mayBringData(to key: AnyStorageKey) async throws -> Bool {
        try await mayBringData(key.migration != nil, key.descriptor.owner, key.descriptor.name, key.descriptor.domain)
    }

    /// The same for a change of a batch.
    package func mayBringData(to change: StorageBatch.Change) async throws -> Bool {
        try await mayBringData(change.hasMigration, change.key.owner, change.key.name, change.key.domain)
    }

    private func mayBringData(
        _ hasMigration: Bool, _ owner: String, _ name: String, _ domain: StorageDomain
    ) async throws -> Bool {
        if hasMigration || !registry.isEmpty { return true }
        if !snapshot.packs.isEmpty { return true }
        return try await mayBeElsewhere(owner, name, domain)
    }

    /// Opens the packs of the configuration and registers their migrations, unless that is done.
    ///
    /// - Returns: What the packs are of.
    /// - Throws: `packUnavailable` naming the pack that is missing, damaged or refused: without it nobody can tell
    ///   whether there is older data.
    @discardableResult
    package func loadPacks() async throws -> RouterSnapshot {
        guard registry.lacksPacks(of: snapshot.id) else { return snapshot }
        var migrations: [KnownMigration] = []
        if !snapshot.packs.isEmpty {
            do throws(StorageError) {
                migrations = try await onIOThread { () throws(StorageError) in
                    var migrations: [KnownMigration] = []
                    for slot in snapshot.packs { migrations += try slot.openIfNeeded().known() }
                    return migrations
                }
            } catch {
                throw MigrationError(.packUnavailable, error.message, underlying: error)
            }
        }
        try registry.setPacks(migrations, of: snapshot.id)
        return snapshot
    }

    /// Every migration that is registered or in a pack.
    ///
    /// - Throws: What ``loadPacks()`` throws.
    func knownMigrations() async throws -> [KnownMigration] {
        try await loadPacks()
        return registry.known
    }
}

extension LoadedPack {
    /// Its migrations, in its own order.
    fileprivate func known() throws(StorageError) -> [KnownMigration] {
        try migrations().map { KnownMigration.single($0) } + bulkMigrations().map { KnownMigration.bulk($0) }
    }
}

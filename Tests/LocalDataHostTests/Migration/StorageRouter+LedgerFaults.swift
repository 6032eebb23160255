import FoundationEssentials
import LocalDataAPI

@testable import HostMigration
@testable import HostStores
@testable import LocalDataHost

/// Faults that tests put into ledgers and batches.
extension StorageRouter {
    /// The location of the ledger's page for a destination.
    func ledgerPlace(of key: StorageKey<String>) async throws -> ResolvedKey {
        let resolved = try await resolve(KeyReference(key))
        return try LedgerPlace.page(
            named: LedgerPlace.pageName(of: "\(resolved.address)"), in: resolved.open,
            try await snapshot().settings)
    }

    /// Leaves a batch that is decided but not in place, like a killed process.
    func interruptBatch(of keys: [StorageKey<String>], to data: Data) async throws {
        let snapshot = try await snapshot()
        var changes: [BatchChange] = []
        for key in keys {
            let resolved = try await resolve(KeyReference(key))
            changes.append(BatchChange(resolved, value: try await resolved.sealedValue(), data: data))
        }
        let groups = try BatchSeals(changes, keychain: nil).whileSealing { (lent) throws(StorageError) in
            try StagedGroup.all(of: changes, lent)
        }
        _ = try StagedBatch.decided(snapshot, groups, [])
    }
}

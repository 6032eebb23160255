import FoundationEssentials
import LocalDataAPI

@testable import LocalDataHost

/// What tests do to ledgers and batches.
extension StorageRouter {
    /// Where the ledger's page of a destination lies.
    func ledgerPlace(of key: StorageKey<String>) async throws -> ResolvedKey {
        let resolved = try await resolve(KeyReference(key))
        return try LedgerPlace.page(
            named: LedgerPlace.pageName(of: "\(resolved.address)"), in: resolved.open,
            try await snapshot().settings)
    }

    /// Leaves a batch that is decided and not in place, as one whose process was killed.
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
        _ = try StagedBatch(snapshot: snapshot, groups: groups).decide()
    }
}

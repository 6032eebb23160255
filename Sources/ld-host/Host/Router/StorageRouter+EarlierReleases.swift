internal import HostMigration
internal import HostStores
internal import HostSync
internal import HostTransfer
internal import LocalDataAPI

/// Values that earlier releases of the app stored under other names, and that take part in sync.
extension StorageRouter {
    /// Brings them to the keys' present names, as a read of the keys would, if this device leads the group: the other
    /// devices wait for that. What cannot be brought is logged, and keeps no other value from syncing.
    ///
    /// - Returns: The addresses of the keys that have a value since.
    func bringEarlierValues(_ device: SyncDevice) async throws(StorageError) -> [String] {
        let keys = device.keys.filter { !$0.sourceAddresses.isEmpty }
        guard !keys.isEmpty, try await SyncDevice.standing(device.snapshot) == .leads else { return [] }
        let migrations = engine(device.snapshot)
        var brought: [String] = []
        for key in keys where try await !key.resolved.exists() {
            do {
                try await migrations.bringData(to: key.key)
                if try await key.resolved.exists() { brought.append(key.address) }
            } catch {
                let reason = (error as? MigrationError)?.message ?? StorageError(wrapping: error).message
                device.snapshot.log(.warning, "sync", "'\(key.address)' is not in sync yet: \(reason)")
            }
        }
        return brought
    }

    /// Whether another device is to bring the earlier values of some of the keys.
    func waitsForOther(_ keys: [SyncedKey], _ snapshot: RouterSnapshot) async throws(StorageError) -> Bool {
        guard keys.contains(where: { !$0.sourceAddresses.isEmpty }) else { return false }
        return try await SyncDevice.standing(snapshot)?.reasonToWait != nil
    }

    /// The keys of earlier releases whose values this device has and another one is to bring, which may never have had
    /// them.
    func formerKeys(of keys: [SyncedKey], _ snapshot: RouterSnapshot) async throws -> [SyncedKey] {
        let migrations = engine(snapshot)
        var (found, addresses): ([SyncedKey], Set<String>) = ([], [])
        for key in keys where !key.sourceAddresses.isEmpty {
            for source in migrations.formerKeys(of: key.key) {
                guard case .key(let synced) = try await candidate(source, snapshot),
                    try await synced.resolved.exists(), addresses.insert(synced.address).inserted
                else { continue }
                found.append(synced)
            }
        }
        return found
    }
}

import LocalDataAPI
import LocalDataHost

func follow(_ catalog: some StorageKeyCatalog, with router: StorageRouter) async throws {
    try await router.registerCatalog(catalog)
    await router.updateSyncConfiguration(SyncConfiguration(maxAutoSyncSize: 50_000))
    await router.syncRegisteredKeysIfNeeded()
    let syncing = Task { try await router.syncContinuously() }
    defer { syncing.cancel() }
    for await address in router.syncedChanges() { print("another device has changed \(address)") }
}

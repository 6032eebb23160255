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

extension StorageKey where Value == [String] {
    static let tags = StorageKey(
        name: "tags", domain: .userDefaults(), security: .none, owner: "Notes", description: "The tags in use.",
        syncPolicy: .automaticSmall, merge: { earlier, later in Set(earlier).union(later).sorted() })
}

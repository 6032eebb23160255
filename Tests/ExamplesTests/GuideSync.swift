import FoundationEssentials
import LocalDataAPI
import LocalDataHost

func follow(_ catalog: some StorageKeyCatalog, with router: StorageRouter) async throws {
    try await router.registerCatalog(catalog)
    await router.updateSyncConfiguration(SyncConfiguration(maxAutoSyncSize: 50_000))
    await router.syncRegisteredKeysIfNeeded()
    let syncing = Task { try await router.syncContinuously() }
    defer { syncing.cancel() }
    for await address in router.syncGroup.changes() { print("another device has changed \(address)") }
}

func reply(with router: StorageRouter, send: ([String: Data]) async throws -> Void) async throws {
    let snapshot = await router.syncSnapshot()
    try await send(snapshot)
}

func receive(_ snapshot: [String: Data], with router: StorageRouter) async throws {
    let report = try await router.apply(snapshot: snapshot)
    for (name, error) in report.failures { print("\(name) was not stored: \(error)") }
}

extension StorageKey where Value == [String] {
    static let tags = StorageKey(
        name: "tags", domain: .userDefaults(), security: .none, owner: "Notes", description: "The tags in use.",
        syncPolicy: .automaticSmall, merge: { earlier, later in Set(earlier).union(later).sorted() })
}

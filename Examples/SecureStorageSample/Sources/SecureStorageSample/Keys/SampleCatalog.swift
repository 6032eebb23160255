import LocalData

/// The keys of today. Those that data comes from need be in no catalog.
struct SampleCatalog: StorageKeyCatalog {
    let allKeys: [AnyStorageKey] = [
        .key(StorageKey.token), .key(StorageKey.conditionalProfile), .key(StorageKey.profile),
        .key(StorageKey.settings),
    ]
}

import LocalData

/// The current keys. The source keys of migrations need not be in any catalog.
struct SampleCatalog: StorageKeyCatalog {
    let allKeys: [AnyStorageKey] = [
        .key(StorageKey.token), .key(StorageKey.conditionalProfile), .key(StorageKey.profile),
        .key(StorageKey.settings),
    ]
}

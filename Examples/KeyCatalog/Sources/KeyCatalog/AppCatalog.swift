import LocalDataAPI

/// Every key of the app.
struct AppCatalog: StorageKeyCatalog {
    let allKeys: [AnyStorageKey] = [
        .key(StorageKey.theme), .key(StorageKey.groupTheme), .key(StorageKey.token), .key(StorageKey.recovery),
        .key(StorageKey.profile), .key(StorageKey.diary), .key(StorageKey.letter), .key(StorageKey.thumbnail),
        .key(StorageKey.document), .key(StorageKey.note),
    ]
}

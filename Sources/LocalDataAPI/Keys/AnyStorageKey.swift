/// A key without its type, for lists of keys with different values.
public struct AnyStorageKey: Sendable {
    /// What is known of the key.
    public let descriptor: StorageKeyDescriptor
    /// How older data comes to it, if the key says so.
    public let migration: AnyStorageMigration?
    /// How a resolved key is found again; the typed key's own, if there is one.
    package let slot: KeyResolutionSlot

    /// Forgets the type of a key.
    public init<Value>(_ key: StorageKey<Value>) {
        descriptor = .from(key)
        migration = key.migration
        slot = key.slot
    }

    /// A key that has no Swift type here.
    public init(_ descriptor: StorageKeyDescriptor, migration: AnyStorageMigration? = nil) {
        self.descriptor = descriptor
        self.migration = migration
        slot = KeyResolutionSlot()
    }

    /// Forgets the type of a key: `.key(StorageKey.theme)` reads well in a catalog.
    public static func key<Value>(_ key: StorageKey<Value>) -> AnyStorageKey { AnyStorageKey(key) }
}

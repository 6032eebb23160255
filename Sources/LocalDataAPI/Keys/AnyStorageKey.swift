public import FoundationEssentials

/// A key without its type, for lists of keys with different values.
public struct AnyStorageKey: Sendable {
    /// What is known of the key.
    public let descriptor: StorageKeyDescriptor
    /// How a resolved key is found again; the typed key's own, if there is one.
    package let slot: KeyResolutionSlot
    /// Where the value is, if that is not what the domain means here.
    package let place: StorageNamespace?

    // Made when it is asked for: two keys may name each other as their sources.
    private let makeMigration: (@Sendable () -> AnyStorageMigration?)?
    private let coding: AnyKeyCoding

    /// Forgets the type of a key.
    public init<Value>(_ key: StorageKey<Value>) {
        descriptor = .from(key)
        slot = key.slot
        place = nil
        let make: @Sendable () -> AnyStorageMigration? = { key.migration }
        makeMigration = key.hasMigration ? make : nil
        coding = AnyKeyCoding(key.serializer)
    }

    /// A key that has no Swift type here.
    public init(_ descriptor: StorageKeyDescriptor, migration: AnyStorageMigration? = nil) {
        self.descriptor = descriptor
        slot = KeyResolutionSlot()
        place = nil
        let make: @Sendable () -> AnyStorageMigration? = { migration }
        makeMigration = migration == nil ? nil : make
        coding = AnyKeyCoding(descriptor.serializer)
    }

    /// A key at a place that the configuration may not have any more.
    package init(_ descriptor: StorageKeyDescriptor, at place: StorageNamespace) {
        self.descriptor = descriptor
        self.place = place
        slot = KeyResolutionSlot()
        makeMigration = nil
        coding = AnyKeyCoding(descriptor.serializer)
    }

    /// Forgets the type of a key: `.key(StorageKey.theme)` reads well in a catalog.
    public static func key<Value>(_ key: StorageKey<Value>) -> AnyStorageKey { AnyStorageKey(key) }

    /// How older data comes to it, if the key says so.
    public var migration: AnyStorageMigration? { makeMigration?() }

    package var hasMigration: Bool { makeMigration != nil }
}

extension AnyStorageKey {
    /// The value in stored bytes, read with the key's own serializer.
    ///
    /// - Throws: `deserializationFailed` if the bytes are no such value; `unsupported` if the key has another type, or
    ///   no type and bytes that only the app understands. Both name the key.
    public func value<Value: Codable & Sendable>(
        _ type: Value.Type = Value.self, from data: Data
    ) throws(StorageError) -> Value {
        try naming { () throws(StorageError) in try coding.value(type, data) }
    }

    /// The same for any type: text, numbers, lists and dictionaries as JSON has them.
    public func anyValue(from data: Data) throws(StorageError) -> AnyCodable {
        try naming { () throws(StorageError) in try coding.anyValue(data) }
    }

    /// Throws what ``value(_:from:)`` would, as far as it can be told for a key without a type.
    package func check(_ data: Data) throws(StorageError) {
        try naming { () throws(StorageError) in try coding.check(data) }
    }

    private func naming<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try body() } catch {
            throw StorageError(
                error.code, "'\(descriptor.domain)/\(descriptor.name)': \(error.message)", hint: error.hint)
        }
    }
}

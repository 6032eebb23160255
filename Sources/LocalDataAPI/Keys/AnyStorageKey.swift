#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A key without its type, for lists of keys with different values.
public struct AnyStorageKey: Sendable {
    /// The key's description.
    public let descriptor: StorageKeyDescriptor
    /// Holds the key's resolutions; the typed key's own slot, if there is one.
    package let slot: KeyResolutionSlot
    /// The value's namespace if it differs from the one that the domain resolves to.
    package let place: StorageNamespace?
    /// The key's versions, if it has a migrator.
    package let chain: AnyValueChain?
    /// Makes one value of two, the earlier and the later one, in stored bytes; `nil` if the key has no way to do so.
    package let merge: (@Sendable (Data, Data) throws -> Data)?
    /// What is known of a key that nobody has declared, from its stored value; `nil` for a declared key.
    package let undeclared: UndeclaredKey?

    // Evaluated on demand, since two keys may name each other as sources.
    private let makeMigration: (@Sendable () -> AnyStorageMigration?)?
    private let coding: AnyKeyCoding

    /// Erases the type of a key.
    public init<Value>(_ key: StorageKey<Value>) {
        descriptor = .from(key)
        slot = key.slot
        place = nil
        let make: @Sendable () -> AnyStorageMigration? = { key.migration }
        makeMigration = key.hasMigration ? make : nil
        chain = AnyValueChain(key)
        coding = AnyKeyCoding(key.serializer)
        merge = Self.merging(key)
        undeclared = nil
    }

    private static func merging<Value>(
        _ key: StorageKey<Value>
    ) -> (@Sendable (Data, Data) throws -> Data)? {
        guard let merge = key.merge else { return nil }
        return { (earlier: Data, later: Data) throws -> Data in
            try key.encode(try merge(try key.decode(earlier), try key.decode(later)))
        }
    }

    /// A key without a Swift type.
    ///
    /// - Parameter merge: As for ``StorageKey``, of stored bytes.
    public init(
        _ descriptor: StorageKeyDescriptor, migration: AnyStorageMigration? = nil,
        merge: (@Sendable (Data, Data) throws -> Data)? = nil
    ) {
        self.descriptor = descriptor
        slot = KeyResolutionSlot()
        place = nil
        let make: @Sendable () -> AnyStorageMigration? = { migration }
        makeMigration = migration == nil ? nil : make
        chain = nil
        self.merge = merge
        undeclared = nil
        coding = AnyKeyCoding(descriptor.serializer)
    }

    /// A key in a namespace that the configuration may no longer contain.
    package init(_ descriptor: StorageKeyDescriptor, at place: StorageNamespace) {
        self.init(descriptor, place: place, undeclared: nil)
    }

    /// A key that nobody has declared.
    package init(_ descriptor: StorageKeyDescriptor, undeclared: UndeclaredKey) {
        self.init(descriptor, place: nil, undeclared: undeclared)
    }

    private init(_ descriptor: StorageKeyDescriptor, place: StorageNamespace?, undeclared: UndeclaredKey?) {
        self.descriptor = descriptor
        self.place = place
        self.undeclared = undeclared
        slot = KeyResolutionSlot()
        makeMigration = nil
        chain = nil
        merge = nil
        coding = AnyKeyCoding(descriptor.serializer)
    }

    /// Erases the type of a key: `.key(StorageKey.theme)` reads well in a catalog.
    public static func key<Value>(_ key: StorageKey<Value>) -> AnyStorageKey { AnyStorageKey(key) }

    /// The same key, described as one of a catalog.
    public func withCatalog(_ name: String) -> AnyStorageKey { AnyStorageKey(self, catalog: name) }

    private init(_ key: AnyStorageKey, catalog: String) {
        descriptor = key.descriptor.withCatalog(catalog)
        slot = key.slot
        place = key.place
        makeMigration = key.makeMigration
        chain = key.chain
        merge = key.merge
        undeclared = nil
        coding = key.coding
    }

    /// The migration that brings older data to the key, if it has one.
    public var migration: AnyStorageMigration? { makeMigration?() }

    package var hasMigration: Bool { makeMigration != nil }

    /// The key's address, as text.
    package var address: String { "\(descriptor.domain)/\(descriptor.name)" }
}

/// What is known of a key that nobody has declared: its address is all that the caller has.
package struct UndeclaredKey: Sendable {
    /// Why its stored value can be neither read nor replaced as the key describes it, if it cannot.
    package let refusal: StorageError?

    /// Describes such a key.
    package init(refusal: StorageError? = nil) { self.refusal = refusal }
}

extension AnyStorageKey {
    /// The value in stored bytes, read with the key's own serializer.
    ///
    /// - Throws: `deserializationFailed` if the bytes are not such a value; `unsupported` if the key has another type,
    ///   or has no type and only the app understands its bytes. Both name the key.
    public func value<Value: Codable & Sendable>(
        _ type: Value.Type = Value.self, from data: Data
    ) throws(StorageError) -> Value {
        try naming { () throws(StorageError) in try coding.value(type, data) }
    }

    /// The value as any type: text, numbers, lists and dictionaries as in JSON.
    public func anyValue(from data: Data) throws(StorageError) -> AnyCodable {
        try naming { () throws(StorageError) in try coding.anyValue(data) }
    }

    /// Throws what ``value(_:from:)`` would, as far as that is known for a key without a type.
    package func check(_ data: Data) throws(StorageError) {
        try naming { () throws(StorageError) in try coding.check(data) }
    }

    /// Throws what reading a value with a version tag would: of a key with versions, the value may be of any of them.
    package func check(_ data: Data, versionTag: String?) throws {
        if let chain { try chain.check(data, versionTag) } else { try check(data) }
    }

    private func naming<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try body() } catch {
            throw StorageError(
                error.code, "'\(address)': \(error.message)", hint: error.hint)
        }
    }
}

package import LocalDataAPI

/// The facts about a key, typed or not, that resolving it needs.
package struct KeyReference: Sendable {
    package let name: String
    package let domain: StorageDomain
    let security: SecurityPolicy
    let serializer: SerializerFormat
    package let owner: String
    let availability: PlatformAvailability
    /// The version of the values that the key writes, if it has versions.
    let versionTag: String?
    let lifetime: Duration?
    package let slot: KeyResolutionSlot
    /// The value's namespace if it differs from the one that the domain resolves to.
    let place: StorageNamespace?
    /// What is known of a key that nobody has declared.
    let undeclared: UndeclaredKey?

    @inline(__always)
    package init<Value>(_ key: StorageKey<Value>) {
        name = key.name
        domain = key.domain
        security = key.security
        serializer = key.serializer.format
        owner = key.owner
        availability = key.availability
        versionTag = key.chain?.versionTag
        lifetime = key.lifetime
        slot = key.slot
        place = nil
        undeclared = nil
    }

    package init(_ key: AnyStorageKey) {
        name = key.descriptor.name
        domain = key.descriptor.domain
        security = key.descriptor.security
        serializer = key.descriptor.serializer
        owner = key.descriptor.owner
        availability = key.descriptor.availability
        versionTag = key.chain?.versionTag
        lifetime = key.descriptor.lifetime
        slot = key.slot
        place = key.place
        undeclared = key.undeclared
    }
}

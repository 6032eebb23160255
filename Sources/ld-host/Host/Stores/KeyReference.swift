internal import LocalDataAPI

/// What resolving needs of a key, typed or not.
struct KeyReference: Sendable {
    let name: String
    let domain: StorageDomain
    let security: SecurityPolicy
    let serializer: SerializerFormat
    let owner: String
    let availability: PlatformAvailability
    let slot: KeyResolutionSlot
    /// Where the value is, if that is not what the domain means here.
    let place: StorageNamespace?

    @inline(__always)
    init<Value>(_ key: StorageKey<Value>) {
        name = key.name
        domain = key.domain
        security = key.security
        serializer = key.serializer.format
        owner = key.owner
        availability = key.availability
        slot = key.slot
        place = nil
    }

    init(_ key: AnyStorageKey) {
        name = key.descriptor.name
        domain = key.descriptor.domain
        security = key.descriptor.security
        serializer = key.descriptor.serializer
        owner = key.descriptor.owner
        availability = key.descriptor.availability
        slot = key.slot
        place = key.place
    }
}

internal import LocalDataAPI

/// The facts about a key, typed or not, that resolving it needs.
struct KeyReference: Sendable {
    let name: String
    let domain: StorageDomain
    let security: SecurityPolicy
    let serializer: SerializerFormat
    let owner: String
    let availability: PlatformAvailability
    let slot: KeyResolutionSlot
    /// The value's namespace if it differs from the one that the domain resolves to.
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

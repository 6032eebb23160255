internal import FoundationEssentials
internal import LocalDataAPI

/// What a step of a manifest does to single keys.
protocol StepAction: Sendable {
    /// The key that it brings data to, or removes.
    var destination: ManifestKey { get }
    /// The keys that it takes data from and removes; none if it changes its destination in place.
    var sources: [ManifestKey] { get }
    /// What it does to the destination.
    var effect: MigrationEffect { get }
    /// Whether it changes what is at the destination.
    var changesInPlace: Bool { get }
    /// What it does, for people.
    var summary: String { get }

    /// Whether there is something to do.
    func isNeeded(_ router: any StorageProviding) async throws -> Bool
    /// Does it, and says how many values came to their destination.
    func run(_ router: any StorageProviding) async throws -> Int
}

extension StepAction {
    var sources: [ManifestKey] { [] }
    var effect: MigrationEffect { .brings }
    var changesInPlace: Bool { false }

    /// The key by which a value is read. What changes in place is looked at as what it becomes: so is it written.
    func looked(at key: ManifestKey) -> AnyStorageKey { changesInPlace ? destination.key : key.key }

    /// The bytes of a key that has to have some.
    func data(of key: ManifestKey, _ router: any StorageProviding) async throws -> Data {
        guard let data = try await router.data(for: looked(at: key)) else {
            throw MigrationError(.sourceDataNotFound, "'\(key.text)' is not stored")
        }
        return data
    }
}

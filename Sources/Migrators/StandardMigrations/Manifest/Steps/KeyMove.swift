internal import FoundationEssentials
internal import LocalDataAPI

/// Brings the value of one key to another as it is: `rename` and `move`.
struct KeyMove: StepAction {
    let source: ManifestKey
    let destination: ManifestKey

    var sources: [ManifestKey] { [source] }
    var summary: String { "moves \(source.text) to \(destination.text)" }

    func isNeeded(_ router: any StorageProviding) async throws -> Bool { try await router.exists(source.key) }

    func run(_ router: any StorageProviding) async throws -> Int {
        let data = try await data(of: source, router)
        try await router.remove(source.key)
        try await router.setData(data, for: destination.key)
        return 1
    }
}

/// Gives a key its first value, once: a value that is there stays, and one that is removed later does not come back.
struct DefaultValue: StepAction {
    let destination: ManifestKey
    /// The serialized value.
    let data: Data

    var summary: String { "gives \(destination.text) its first value" }

    func isNeeded(_ router: any StorageProviding) async throws -> Bool { try await !router.exists(destination.key) }

    func run(_ router: any StorageProviding) async throws -> Int {
        try await router.setData(data, for: destination.key)
        return 1
    }
}

/// Removes a key's value, once: what an app stores there later stays.
struct KeyRemoval: StepAction {
    let destination: ManifestKey

    var effect: MigrationEffect { .removes }
    var summary: String { "removes \(destination.text)" }

    func isNeeded(_ router: any StorageProviding) async throws -> Bool { try await router.exists(destination.key) }

    func run(_ router: any StorageProviding) async throws -> Int {
        try await router.remove(destination.key)
        return 0
    }
}

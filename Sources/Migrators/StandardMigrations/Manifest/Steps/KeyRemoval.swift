internal import LocalDataAPI

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

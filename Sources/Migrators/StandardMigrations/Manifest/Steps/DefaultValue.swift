internal import FoundationEssentials
internal import LocalDataAPI

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

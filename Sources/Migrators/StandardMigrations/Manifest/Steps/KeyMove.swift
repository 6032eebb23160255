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

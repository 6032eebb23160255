internal import FoundationEssentials
internal import LocalDataAPI

/// Writes a value in the other format, at its own key or another one.
struct Reencoding: StepAction {
    let source: ManifestKey
    let destination: ManifestKey
    let from: ValueFormat
    let to: ValueFormat

    var changesInPlace: Bool { source.isSame(as: destination) }
    var sources: [ManifestKey] { changesInPlace ? [] : [source] }
    var summary: String {
        "writes \(source.text) as \(to.rawValue)" + (changesInPlace ? "" : " to \(destination.text)")
    }

    /// In place, a value that has the format already is left alone.
    func isNeeded(_ router: any StorageProviding) async throws -> Bool {
        guard changesInPlace else { return try await router.exists(source.key) }
        guard let data = try await router.data(for: looked(at: source)) else { return false }
        return !to.fits(data)
    }

    func run(_ router: any StorageProviding) async throws -> Int {
        let data = try convert(try await data(of: source, router), at: source.text)
        if !changesInPlace { try await router.remove(source.key) }
        try await router.setData(data, for: destination.key)
        return 1
    }

    /// The bytes in the other format.
    func convert(_ data: Data, at address: String) throws(MigrationError) -> Data {
        try to.write(try from.read(data, at: address), at: address)
    }
}

internal import LocalDataAPI

/// Changes the members of a value, on its way to another key or in place.
struct FieldMapping: StepAction {
    let source: ManifestKey
    let destination: ManifestKey
    let from: ValueFormat
    let to: ValueFormat
    let changes: [FieldChange]

    var changesInPlace: Bool { source.isSame(as: destination) }
    var sources: [ManifestKey] { changesInPlace ? [] : [source] }
    var summary: String {
        "changes members of \(source.text)" + (changesInPlace ? "" : " and moves it to \(destination.text)")
    }

    func isNeeded(_ router: any StorageProviding) async throws -> Bool {
        try await router.exists(looked(at: source))
    }

    func run(_ router: any StorageProviding) async throws -> Int {
        var value = try from.read(try await data(of: source, router), at: source.text)
        for change in changes {
            do throws(PlaceFault) { try change.apply(to: &value) } catch {
                throw MigrationError(.transformationFailed, "'\(source.text)': \(error.text)")
            }
        }
        let data = try to.write(value, at: destination.text)
        if !changesInPlace { try await router.remove(source.key) }
        try await router.setData(data, for: destination.key)
        return 1
    }
}

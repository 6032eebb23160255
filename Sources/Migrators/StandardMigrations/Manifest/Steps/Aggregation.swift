internal import JSON
internal import LocalDataAPI

/// Makes one value of what several keys have.
struct Aggregation: StepAction {
    let destination: ManifestKey
    let to: ValueFormat
    let sources: [ManifestKey]
    let template: Template
    /// Whether parts of the sources that the template does not use may be lost.
    let discardsRest: Bool

    var summary: String { "makes \(destination.text) of \(sources.map(\.text).joined(separator: ", "))" }

    func isNeeded(_ router: any StorageProviding) async throws -> Bool {
        for source in sources where try await router.exists(source.key) { return true }
        return false
    }

    func run(_ router: any StorageProviding) async throws -> Int {
        var found: [Int: JSON] = [:]
        for (index, source) in sources.enumerated() {
            guard let data = try await router.data(for: source.key) else { continue }
            let format = source.serializer.flatMap { ValueFormat($0) } ?? .json
            found[index] = try format.read(data, at: source.text)
        }
        guard !found.isEmpty else { throw MigrationError(.sourceDataNotFound, "none of the sources has data") }
        let value = try template.filled { (reference) throws(MigrationError) in try part(reference, of: found) }
        if !discardsRest { try requireNothingLeft(of: found) }
        let data = try to.write(value, at: destination.text)
        for index in found.keys.sorted() { try await router.remove(sources[index].key) }
        try await router.setData(data, for: destination.key)
        return found.count
    }

    private func part(_ reference: Template.Reference, of found: [Int: JSON]) throws(MigrationError) -> JSON {
        let address = sources[reference.source].text
        if let part = found[reference.source]?.value(at: reference.pointer) ?? reference.fallback { return part }
        guard found[reference.source] != nil else {
            throw MigrationError(
                .aggregationFailed, "'\(address)' is not stored, and the template has no 'default' for it")
        }
        throw MigrationError(
            .aggregationFailed,
            "'\(address)' has nothing at '\(reference.pointer)', and the template has no 'default' for it")
    }

    /// The sources are removed, so what the template leaves out would be lost.
    private func requireNothingLeft(of found: [Int: JSON]) throws(MigrationError) {
        for (index, value) in found.sorted(by: { $0.key < $1.key }) {
            let used = template.references.filter { $0.source == index }.map(\.pointer)
            guard let place = Self.unused(value, JSONPointer(tokens: []), used) else { continue }
            throw MigrationError(
                .aggregationFailed,
                "'\(sources[index].text)' has '\(place)', which the template does not use and which would be lost; "
                    + "use it, or write \"discardRest\": true")
        }
    }

    /// The first part that nobody uses.
    private static func unused(_ value: JSON, _ place: JSONPointer, _ used: [JSONPointer]) -> JSONPointer? {
        if used.contains(where: { $0.holds(place) }) { return nil }
        switch value.content {
        case .object(let object) where used.contains(where: { place.holds($0) }):
            for member in object.members {
                if let found = unused(member.value, place.appending(member.name), used) { return found }
            }
            return nil
        case .array(let elements) where used.contains(where: { place.holds($0) }):
            for (index, element) in elements.enumerated() {
                if let found = unused(element, place.appending("\(index)"), used) { return found }
            }
            return nil
        default: return place
        }
    }
}

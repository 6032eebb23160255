internal import JSON
internal import LocalDataAPI

/// Versions that a step is for, as a manifest writes them: `<2.0.0`, or several that all have to hold, `>=1.0 <2.0`.
struct VersionCondition: Sendable {
    private struct Bound: Sendable {
        let relation: String
        let version: SemanticVersion
    }

    private let bounds: [Bound]

    init(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) {
        let expected = "versions such as <2.0.0 or >=1.0 <2.0"
        guard case .string(let text) = value.content else { throw place.expected(expected, value) }
        var bounds: [Bound] = []
        for word in text.split(separator: " ") {
            guard let relation = ["<=", ">=", "<", ">", "="].first(where: { word.hasPrefix($0) }),
                let version = SemanticVersion(String(word.dropFirst(relation.count)))
            else {
                throw place.expected(expected, value, hint: "a relation is <, <=, >, >= or =, with no space after it")
            }
            bounds.append(Bound(relation: relation, version: version))
        }
        guard !bounds.isEmpty else { throw place.expected(expected, value) }
        self.bounds = bounds
    }

    /// The first version after them, as `<2.0.0` names it; `nil` if none is named.
    var end: SemanticVersion? { bounds.filter { $0.relation == "<" }.map(\.version).min() }

    /// Whether a version is one of them.
    func holds(for version: SemanticVersion) -> Bool {
        bounds.allSatisfy { bound in
            switch bound.relation {
            case "<": version < bound.version
            case "<=": version <= bound.version
            case ">": version > bound.version
            case ">=": version >= bound.version
            default: version == bound.version
            }
        }
    }
}

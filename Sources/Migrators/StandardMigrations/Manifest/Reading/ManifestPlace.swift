internal import LocalDataAPI

/// A place in a manifest, for messages: which step, and which member of it.
struct ManifestPlace: Sendable {
    /// `step 'token'`, or `step 3` as long as the step's id is not known.
    let step: String
    private(set) var path: [String] = []

    init(step: String) { self.step = step }

    func member(_ name: String) -> ManifestPlace {
        var place = self
        place.path.append(name)
        return place
    }

    /// What is wrong here. It quotes what an operator wrote in the manifest, and no stored value.
    func error(_ message: String, hint: String = "") -> StorageError {
        StorageError(
            .invalidOptions,
            path.isEmpty ? "\(step): \(message)" : "\(step), \(path.joined(separator: ".")): \(message)",
            hint: hint.isEmpty ? "see StandardMigrations in the documentation" : hint)
    }

    /// That something else was expected.
    func expected(_ expected: String, _ found: JSON?, hint: String = "") -> StorageError {
        error("expected \(expected), \(found.map { "found \(Self.shown($0))" } ?? "and it is missing")", hint: hint)
    }

    /// A text of a manifest as messages quote it: on one line, and not for ever.
    static func quoted(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(80).map { $0.properties.generalCategory == .control ? "?" : String($0) }
        return "'\(start.joined())\(text.unicodeScalars.count > 80 ? "..." : "")'"
    }

    private static func shown(_ value: JSON) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .number(let text): text.utf8.count <= 40 ? text : "a number"
        default: value.kind
        }
    }
}

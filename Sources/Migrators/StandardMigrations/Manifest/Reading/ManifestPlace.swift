internal import JSON
internal import LocalDataAPI

/// A place in a manifest, for messages: which step, and which member of it.
struct ManifestPlace: Sendable {
    /// `step 'token'`, or `step 3` as long as the step's id is not known.
    let step: String
    /// The place in the manifest's JSON.
    private(set) var pointer: JSONPointer
    private var path: [String] = []

    /// - Parameters:
    ///   - step: What is there.
    ///   - number: Which one of the list, from 1.
    ///   - list: The member that has the list, if the manifest is an object.
    init(step: String, number: Int, in list: String? = nil) {
        self.step = step
        pointer = JSONPointer(tokens: (list.map { [$0] } ?? []) + ["\(number - 1)"])
    }

    /// The manifest as a whole.
    init(step: String) {
        self.step = step
        pointer = JSONPointer(tokens: [])
    }

    func member(_ name: String) -> ManifestPlace {
        var place = self
        place.path.append(name)
        place.pointer = pointer.appending(name)
        return place
    }

    /// An element of the list that is here.
    func element(_ index: Int) -> ManifestPlace {
        var place = self
        place.path = path.dropLast() + ["\(path.last ?? "")[\(index)]"]
        place.pointer = pointer.appending("\(index)")
        return place
    }

    /// What is wrong here. It quotes what an operator wrote in the manifest, and no stored value.
    func error(_ message: String, hint: String = "") -> ManifestFaults {
        ManifestFaults(ManifestFaults.Fault(pointer: pointer, message: located(message), hint: hint))
    }

    /// That something else was expected.
    func expected(_ expected: String, _ found: JSON?, hint: String = "") -> ManifestFaults {
        error("expected \(expected), \(found.map { "found \(Self.shown($0))" } ?? "and it is missing")", hint: hint)
    }

    /// That the object here has a member that nobody knows.
    func unknown(_ name: String, among known: [String]) -> ManifestFaults {
        let nearest = EditDistance.nearest(to: name, in: known, within: max(2, name.count / 3))
        return ManifestFaults(
            ManifestFaults.Fault(
                pointer: pointer.appending(name), isName: true,
                message: located("unknown member \(Self.quoted(name))"),
                hint: nearest.map { "did you mean '\($0)'?" } ?? "possible are \(known.joined(separator: ", "))"))
    }

    private func located(_ message: String) -> String {
        path.isEmpty ? "\(step): \(message)" : "\(step), \(path.joined(separator: ".")): \(message)"
    }

    /// A text of a manifest as messages quote it: on one line, and not for ever.
    static func quoted(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(80).map { $0.properties.generalCategory == .control ? "?" : String($0) }
        return "'\(start.joined())\(text.unicodeScalars.count > 80 ? "..." : "")'"
    }

    private static func shown(_ value: JSON) -> String {
        switch value.content {
        case .string(let text): quoted(text)
        case .number(let text): text.utf8.count <= 40 ? text : "a number"
        default: value.kind
        }
    }
}

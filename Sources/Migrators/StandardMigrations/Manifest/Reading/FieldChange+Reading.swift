internal import JSON
internal import LocalDataAPI

extension FieldChange {
    private static let kinds = ["rename", "move", "copy", "drop", "set", "default", "cast"]

    /// Reads a change: one of the kinds with the place that it changes, and what belongs to it.
    init(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) {
        let known = Self.kinds + ["to", "value", "optional"]
        let any = try ManifestObject(value, at: place, members: known)
        let kinds = Self.kinds.filter { any.has($0) }
        guard let kind = kinds.first, kinds.count == 1 else {
            throw place.error("expected exactly one of \(Self.kinds.joined(separator: ", "))")
        }
        let members: [String] =
            switch kind {
            case "rename", "move", "copy", "cast": [kind, "to", "optional"]
            case "drop": [kind, "optional"]
            default: [kind, "value"]
            }
        let object = try ManifestObject(value, at: place, members: members)
        let pointer = try object.pointer(kind)
        let isOptional = try object.flag("optional")
        switch kind {
        case "rename":
            let name = try object.text("to", "the member's new name")
            let to = pointer.parent.appending(name)
            guard !to.holds(pointer) else { throw place.member("to").error("is the name that the member has") }
            self = .move(from: pointer, to: to, isOptional: isOptional)
        case "move", "copy":
            let to = try object.pointer("to")
            guard !pointer.holds(to) else {
                throw place.error("'\(to)' is inside of '\(pointer)' or the same", hint: "choose a place outside of it")
            }
            self =
                kind == "move"
                ? .move(from: pointer, to: to, isOptional: isOptional)
                : .copy(from: pointer, to: to, isOptional: isOptional)
        case "drop": self = .drop(pointer, isOptional: isOptional)
        case "set": self = .set(pointer, try object.required("value", "the value"))
        case "default": self = .fill(pointer, try object.required("value", "the value"))
        default:
            let words = Cast.allCases.map(\.rawValue)
            guard let cast = try object.choice("to", words).flatMap({ Cast(rawValue: $0) }) else {
                throw place.error("'to' is missing; expected one of \(words.joined(separator: ", "))")
            }
            self = .cast(pointer, cast, isOptional: isOptional)
        }
    }
}

internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI

/// Reads what a step does.
struct StepReader: Sendable {
    let place: ManifestPlace

    func work(_ kind: String, _ value: JSON) throws(ManifestFaults) -> Step.Work {
        switch kind {
        case "rename": return .keys(try rename(value))
        case "move": return try move(value)
        case "prefix": return try prefix(value)
        case "remove": return .keys(KeyRemoval(destination: try ManifestKey(value, .key, at: place)))
        case "default": return .keys(try defaultValue(value))
        case "reencode": return try reencode(value)
        case "map": return .keys(try map(value))
        default: return .keys(try aggregate(value))
        }
    }

    private func key(
        _ object: ManifestObject, _ name: String, _ form: ManifestKey.Form = .key
    ) throws(ManifestFaults) -> ManifestKey {
        try ManifestKey(try object.required(name, form.expected), form, at: place.member(name))
    }

    /// Both ends of a move.
    private func ends(
        _ object: ManifestObject, _ form: ManifestKey.Form = .key
    ) throws(ManifestFaults) -> (from: ManifestKey, to: ManifestKey) {
        var faults = ManifestFaults()
        let from = faults.collect { () throws(ManifestFaults) in try key(object, "from", form) }
        let to = faults.collect { () throws(ManifestFaults) in try key(object, "to", form) }
        guard let from, let to else { throw faults }
        return (from, to)
    }

    private func rename(_ value: JSON) throws(ManifestFaults) -> KeyMove {
        let object = try ManifestObject(value, at: place, members: ["from", "to"])
        let (from, to) = try same(try ends(object))
        guard from.domain == to.domain else {
            throw place.error(
                "'\(from.domain)' and '\(to.domain)' are two places; a rename stays in one",
                hint: "write 'move' instead")
        }
        return KeyMove(source: from, destination: to)
    }

    private func move(_ value: JSON) throws(ManifestFaults) -> Step.Work {
        let object = try ManifestObject(value, at: place, members: ["from", "to"])
        let from = try key(object, "from", .keyOrPrefix)
        let to = try destination(object, of: from)
        let (source, destination) = try same((from, to))
        guard source.domain != destination.domain else {
            throw place.error(
                "both are in '\(source.domain)'", hint: "write '\(from.isPrefix ? "prefix" : "rename")' instead")
        }
        return source.isPrefix
            ? .range(from: source, to: destination, nil)
            : .keys(KeyMove(source: source, destination: destination))
    }

    /// A place alone stands for the same name in it.
    private func destination(_ object: ManifestObject, of from: ManifestKey) throws(ManifestFaults) -> ManifestKey {
        if case .string(let text)? = object.value("to")?.content, !text.contains("/"), !text.isEmpty {
            return try ManifestKey(
                .string("\(text)/\(from.name)\(from.isPrefix ? "*" : "")"), .keyOrPrefix, at: place.member("to"))
        }
        return try key(object, "to", .keyOrPrefix)
    }

    private func prefix(_ value: JSON) throws(ManifestFaults) -> Step.Work {
        let object = try ManifestObject(value, at: place, members: ["from", "to"])
        let (from, to) = try same(try ends(object, .keyOrPrefix))
        guard from.isPrefix else { throw place.error("'\(from.text)' is a key", hint: "write 'rename' instead") }
        guard from.domain == to.domain else {
            throw place.error("'\(from.domain)' and '\(to.domain)' are two places", hint: "write 'move' instead")
        }
        guard !from.overlaps(to) else {
            throw place.error(
                "'\(from.text)' and '\(to.text)' have names in common, so what has been moved would be moved again",
                hint: "choose a prefix that is no part of the other")
        }
        return .range(from: from, to: to, nil)
    }

    /// Both ends of a move of values as they are: two keys that differ, or two prefixes, in one format.
    private func same(
        _ ends: (from: ManifestKey, to: ManifestKey)
    ) throws(ManifestFaults) -> (from: ManifestKey, to: ManifestKey) {
        try check(ends.from, ends.to)
        let (from, to) = (ends.from.serialized(ends.to.serializer), ends.to.serialized(ends.from.serializer))
        guard from.serializer == to.serializer else {
            throw place.error("the serializers differ, and the bytes would stay as they are", hint: "write 'reencode'")
        }
        return (from, to)
    }

    private func check(_ from: ManifestKey, _ to: ManifestKey) throws(ManifestFaults) {
        guard from.isPrefix == to.isPrefix else {
            throw place.error("'\(from.text)' and '\(to.text)': expected two keys or two prefixes")
        }
        guard !from.isSame(as: to) else { throw place.error("'\(from.text)' would be moved to itself") }
    }

    /// A value that changes in place is read and written in one way.
    func checkSecurity(_ from: ManifestKey, _ to: ManifestKey) throws(ManifestFaults) {
        guard from.isSame(as: to), from.security != to.security else { return }
        throw place.error("'\(from.text)' has another 'security' in 'from' than in 'to'; in place both are the same")
    }

    private func defaultValue(_ value: JSON) throws(ManifestFaults) -> DefaultValue {
        let object = try ManifestObject(value, at: place, members: ["key", "value"])
        let destination = try key(object, "key").serialized(.json)
        let constant = try object.required("value", "the value")
        guard let format = destination.serializer.flatMap({ ValueFormat($0) }) else {
            guard case .string(let text) = constant.content else {
                throw place.member("value").expected("a text, whose bytes are the value", constant)
            }
            return DefaultValue(destination: destination, data: Data(text.utf8))
        }
        do throws(MigrationError) {
            return DefaultValue(destination: destination, data: try format.write(constant, at: destination.text))
        } catch { throw place.member("value").error(error.message) }
    }

    private func reencode(_ value: JSON) throws(ManifestFaults) -> Step.Work {
        let object = try ManifestObject(value, at: place, members: ["from", "to"])
        let (from, to) = try ends(object, .keyOrPrefix)
        guard let old = from.serializer.flatMap({ ValueFormat($0) }),
            let new = to.serializer.flatMap({ ValueFormat($0) }), old != new
        else {
            throw place.error(
                "expected a 'serializer' in 'from' and another one in 'to'",
                hint: "write { \"address\": ..., \"serializer\": \"plist\" }, and \"json\" in the other")
        }
        try checkSecurity(from, to)
        let reencoding = Reencoding(source: from, destination: to, from: old, to: new)
        guard from.isPrefix || to.isPrefix else { return .keys(reencoding) }
        try check(from, to)
        guard !from.overlaps(to) else {
            throw place.error(
                "the values of a prefix cannot be rewritten in place", hint: "give 'to' another prefix")
        }
        return .range(from: from, to: to, reencoding)
    }
}

extension StepReader {
    func map(_ value: JSON) throws(ManifestFaults) -> FieldMapping {
        let object = try ManifestObject(value, at: place, members: ["from", "to", "fields"])
        let from = try ManifestKey(
            try object.required("from", ManifestKey.Form.key.expected), .key, at: place.member("from")
        )
        .serialized(.json)
        let to = try object.value("to").map { (value) throws(ManifestFaults) in
            try ManifestKey(value, .key, at: place.member("to")).serialized(from.serializer)
        }
        try checkSecurity(from, to ?? from)
        var changes: [FieldChange] = []
        var faults = ManifestFaults()
        for (index, field) in try object.list("fields", "a list of changes").enumerated() {
            let change = faults.collect { () throws(ManifestFaults) in
                try FieldChange(field, at: place.member("fields").element(index))
            }
            if let change { changes.append(change) }
        }
        try faults.check()
        guard !changes.isEmpty else { throw place.error("'fields' is missing or empty; expected a list of changes") }
        return FieldMapping(
            source: from, destination: to ?? from, from: try format(from, "from"), to: try format(to ?? from, "to"),
            changes: changes)
    }

    private func format(_ key: ManifestKey, _ member: String) throws(ManifestFaults) -> ValueFormat {
        guard let format = key.serializer.flatMap({ ValueFormat($0) }) else {
            throw place.member(member).error(
                "values with the serializer '\(key.serializer?.rawValue ?? "")' have no members; expected json or plist"
            )
        }
        return format
    }

    func aggregate(_ value: JSON) throws(ManifestFaults) -> Aggregation {
        let object = try ManifestObject(value, at: place, members: ["to", "template", "discardRest"])
        let to = try ManifestKey(try object.required("to", ManifestKey.Form.key.expected), .key, at: place.member("to"))
            .serialized(.json)
        var sources: [ManifestKey] = []
        let template = try template(
            try object.required("template", "a value with { \"$key\": ... } in it"), &sources, place.member("template"))
        guard !sources.isEmpty else {
            throw place.member("template").error(
                "names no key", hint: "write { \"$key\": \"userDefaults/theme\" } where a value belongs")
        }
        guard !sources.contains(where: { $0.overlaps(to) }) else {
            throw place.error("'\(to.text)' is one of the keys that it is made of", hint: "give 'to' another key")
        }
        return Aggregation(
            destination: to, to: try format(to, "to"), sources: sources, template: template,
            discardsRest: try object.flag("discardRest"))
    }

    private func template(
        _ value: JSON, _ sources: inout [ManifestKey], _ place: ManifestPlace
    ) throws(ManifestFaults) -> Template {
        switch value.content {
        case .array(let elements):
            var templates: [Template] = []
            for (index, element) in elements.enumerated() {
                templates.append(try template(element, &sources, place.member("\(index)")))
            }
            return .array(templates)
        case .object(let object) where object["$key"] != nil:
            return .reference(try reference(value, &sources, place))
        case .object(let object):
            var templates: [(name: String, value: Template)] = []
            for member in object.members {
                templates.append((member.name, try template(member.value, &sources, place.member(member.name))))
            }
            return .object(templates)
        default: return .constant(value)
        }
    }

    private func reference(
        _ value: JSON, _ sources: inout [ManifestKey], _ place: ManifestPlace
    ) throws(ManifestFaults) -> Template.Reference {
        let object = try ManifestObject(value, at: place, members: ["$key", "pointer", "default"])
        let key = try ManifestKey(
            try object.required("$key", ManifestKey.Form.key.expected), .key, at: place.member("$key")
        ).serialized(.json)
        _ = try format(key, "$key")
        var pointer = JSONPointer(tokens: [])
        if object.has("pointer") { pointer = try object.pointer("pointer") }
        let known = sources.firstIndex { $0.isSame(as: key) }
        if let known, sources[known].serializer != key.serializer || sources[known].security != key.security {
            throw place.member("$key").error(
                "'\(key.text)' is described in another way above; write the same both times")
        }
        if known == nil { sources.append(key) }
        return Template.Reference(
            source: known ?? sources.count - 1, pointer: pointer, fallback: object.value("default"))
    }
}

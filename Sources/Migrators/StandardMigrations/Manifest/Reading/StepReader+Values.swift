internal import JSON
internal import LocalDataAPI

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

internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI

/// Reads a container of a manifest, and the steps between its versions.
struct ContainerReader {
    let chain: ContainerChain

    private static let members = [
        "name", "domain", "prefix", "version", "baseline", "versionKey", "formerVersionKeys", "formerNames",
        "otherKeys", "properties", "steps",
    ]

    /// - Parameters:
    ///   - number: Which one of the manifest, from 1.
    ///   - isComplete: Whether it must have all steps to its version.
    init(_ value: JSON, number: Int, complete isComplete: Bool) throws(ManifestFaults) {
        let unnamed = ManifestPlace(step: "container \(number)", number: number, in: "containers")
        let name = try ManifestObject(value, at: unnamed, members: Self.members).text("name", "the container's name")
        let place = ManifestPlace(
            step: "container \(ManifestPlace.quoted(name))", number: number, in: "containers")
        let object = try ManifestObject(value, at: place, members: Self.members)
        let (prefix, domain) = (try Self.optionalText(object, "prefix") ?? "", try Self.domain(object))
        let former = try Self.texts(object, "formerVersionKeys").map { ContainerVersionKey($0) }
        let key =
            try Self.optionalText(object, "versionKey") ?? ContainerVersionKey.container(name, prefix: prefix).name
        var definition = ContainerDefinition(
            name: name, version: try Self.number(object, "version") ?? 1, prefix: prefix, store: domain,
            versionKey: ContainerVersionKey(key, formerly: former), baseline: try Self.number(object, "baseline") ?? 1,
            formerNames: try Self.texts(object, "formerNames"), otherKeys: try Self.keys(object, "otherKeys"))
        var faults = ManifestFaults()
        for (index, property) in try object.list("properties", "a list of settings").enumerated() {
            let place = place.member("properties").element(index)
            definition =
                faults.collect { () throws(ManifestFaults) in
                    try Self.adding(property, to: definition, at: place)
                } ?? definition
        }
        let steps = try object.list("steps", "a list of steps").enumerated().compactMap { index, step in
            faults.collect { () throws(ManifestFaults) in
                try Self.step(step, at: place.member("steps").element(index))
            }
        }
        try faults.check()
        chain = ContainerChain(definition, steps)
        do throws(MigrationError) { try chain.validate(complete: isComplete) } catch {
            throw place.error(error.message)
        }
    }

    private static func adding(
        _ value: JSON, to definition: ContainerDefinition, at place: ManifestPlace
    ) throws(ManifestFaults) -> ContainerDefinition {
        let object = try ManifestObject(value, at: place, members: ["name", "key", "type", "default"])
        return definition.adding(
            try object.text("name", "the setting's name"), key: try optionalText(object, "key"),
            type: try optionalText(object, "type") ?? "",
            default: try object.value("default").map { (value) throws(ManifestFaults) in
                try constant(value, at: place.member("default"))
            })
    }

    private static func step(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) -> ContainerStep {
        let object = try ManifestObject(
            value, at: place, members: ["from", "to", "prefix", "name", "changes", "isProgrammed"])
        guard let from = try number(object, "from"), let to = try number(object, "to") else {
            throw place.error("expected the versions 'from' and 'to'")
        }
        let (prefix, name) = (try optionalText(object, "prefix"), try optionalText(object, "name"))
        if try object.flag("isProgrammed") {
            guard !object.has("changes") else { throw place.error("has 'changes', and is programmed; expected one") }
            return .programmed(from: from, to: to, prefix: prefix, name: name)
        }
        var faults = ManifestFaults()
        let changes = try object.list("changes", "a list of changes").enumerated().compactMap { index, change in
            faults.collect { () throws(ManifestFaults) in
                try edit(change, at: place.member("changes").element(index))
            }
        }
        try faults.check()
        return ContainerStep(from: from, to: to, prefix: prefix, name: name, changes)
    }

    private static let kinds = ["rename", "renames", "prefix", "remove", "default", "move"]

    private static func edit(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) -> ContainerEdit {
        let object = try ManifestObject(value, at: place, members: kinds)
        let given = kinds.filter { object.has($0) }
        guard let kind = given.first, given.count == 1, let content = object.value(kind) else {
            throw place.error(
                given.isEmpty ? "has no action" : "has several actions: \(given.joined(separator: ", "))",
                hint: "write exactly one of \(kinds.joined(separator: ", "))")
        }
        let inside = place.member(kind)
        switch kind {
        case "rename": return .renames([try rename(content, at: inside)])
        case "renames":
            var renames: [ContainerRename] = []
            for (index, element) in try object.list("renames", "a list of renames").enumerated() {
                renames.append(try rename(element, at: inside.element(index)))
            }
            return .renames(renames)
        case "remove": return .remove(try key(content, at: inside))
        case "default":
            let parts = try ManifestObject(content, at: inside, members: ["key", "value"])
            return .setDefault(
                try key(try parts.required("key", "a key"), at: inside.member("key")),
                try constant(try parts.required("value", "the value"), at: inside.member("value")))
        default:
            let ends = try ManifestObject(content, at: inside, members: ["from", "to"])
            let (from, to) = (try ends.text("from", "a prefix or key"), try optionalText(ends, "to"))
            guard let to, kind == "prefix" || !to.isEmpty else { throw inside.error("'to' is missing") }
            return kind == "prefix" ? .prefix(from, to: to) : .move(from: from, to: to)
        }
    }

    private static func rename(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) -> ContainerRename {
        let object = try ManifestObject(value, at: place, members: ["from", "to"])
        return ContainerRename(
            try key(try object.required("from", "a key"), at: place.member("from")),
            to: try key(try object.required("to", "a key"), at: place.member("to")))
    }

    /// A short name, a stored key with a dot, or `{ "stored": KEY }`.
    private static func key(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) -> ContainerKey {
        if case .object = value.content {
            return .stored(try ManifestObject(value, at: place, members: ["stored"]).text("stored", "a stored key"))
        }
        guard case .string(let text) = value.content, !text.isEmpty else {
            throw place.expected("the name of a setting, or a stored key", value)
        }
        return ContainerKey(text)
    }

    private static func keys(_ object: ManifestObject, _ name: String) throws(ManifestFaults) -> [ContainerKey] {
        var keys: [ContainerKey] = []
        for (index, element) in try object.list(name, "a list of keys").enumerated() {
            keys.append(try key(element, at: object.place.member(name).element(index)))
        }
        return keys
    }

    private static func domain(_ object: ManifestObject) throws(ManifestFaults) -> StorageDomain {
        let text = try optionalText(object, "domain") ?? "userDefaults"
        do throws(StorageError) { return try StorageDomain(address: text) } catch {
            throw object.place.member("domain").error(error.message, hint: error.hint)
        }
    }

    private static func constant(_ value: JSON, at place: ManifestPlace) throws(ManifestFaults) -> AnyCodable {
        do throws(StorageError) { return try Serializer<AnyCodable>.json.decode(Data(value.text)) } catch {
            throw place.error(error.message)
        }
    }

    private static func optionalText(_ object: ManifestObject, _ name: String) throws(ManifestFaults) -> String? {
        guard let value = object.value(name) else { return nil }
        guard case .string(let text) = value.content else {
            throw object.place.member(name).expected("a text", value)
        }
        return text
    }

    private static func texts(_ object: ManifestObject, _ name: String) throws(ManifestFaults) -> [String] {
        var texts: [String] = []
        for (index, element) in try object.list(name, "a list of texts").enumerated() {
            guard case .string(let text) = element.content, !text.isEmpty else {
                throw object.place.member(name).element(index).expected("a text", element)
            }
            texts.append(text)
        }
        return texts
    }

    private static func number(_ object: ManifestObject, _ name: String) throws(ManifestFaults) -> Int? {
        guard let value = object.value(name) else { return nil }
        guard case .number(let text) = value.content, let number = Int32(text), number > 0 else {
            throw object.place.member(name).expected("a whole number of 1 or more", value)
        }
        return Int(number)
    }
}

internal import ByteCoding
internal import JSON
internal import LocalDataAPI

extension Step {
    private static let kinds = ["rename", "move", "prefix", "remove", "default", "reencode", "map", "aggregate"]
    private static let members = ["id", "revision", "after", "onConflict", "when"]

    /// Reads a step.
    ///
    /// - Parameters:
    ///   - number: Which one of the manifest, from 1.
    ///   - list: The member that has the steps, if the manifest is an object.
    init(_ value: JSON, number: Int, in list: String? = nil) throws(ManifestFaults) {
        let unnamed = ManifestPlace(step: "step \(number)", number: number, in: list)
        let named = try ManifestObject(value, at: unnamed, members: Self.members + Self.kinds)
        let id = try Self.id(named)
        let place = ManifestPlace(step: "step \(ManifestPlace.quoted(id))", number: number, in: list)
        let object = try ManifestObject(value, at: place, members: Self.members + Self.kinds)
        let kinds = Self.kinds.filter { object.has($0) }
        guard let kind = kinds.first, kinds.count == 1, let content = object.value(kind) else {
            throw object.place.error(
                kinds.isEmpty ? "has no action" : "has several actions: \(kinds.joined(separator: ", "))",
                hint: "write exactly one of \(Self.kinds.joined(separator: ", "))")
        }
        var faults = ManifestFaults()
        let work = faults.collect { () throws(ManifestFaults) in
            try StepReader(place: place.member(kind)).work(kind, content)
        }
        let revision = faults.collect { () throws(ManifestFaults) in try Self.revision(object) }
        let after = faults.collect { () throws(ManifestFaults) in try Self.after(object) }
        let policy = faults.collect { () throws(ManifestFaults) in try Self.conflictPolicy(object, kind, work) }
        let condition = faults.collect { () throws(ManifestFaults) in try Self.condition(object, kind, work) }
        guard let work, let revision, let after, let policy, let condition else { throw faults }
        self.init(
            id: id, place: place, revision: revision, after: after, conflictPolicy: policy, condition: condition,
            work: work, fingerprint: StepFingerprint.of(value, besides: ["id", "revision", "after"]))
    }

    private static func id(_ object: ManifestObject) throws(ManifestFaults) -> String {
        let id = try object.text("id", "a name for the step that never changes")
        guard id.utf8.count <= 256, !id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw object.place.member("id").error("expected at most 256 bytes on one line")
        }
        return id
    }

    private static func revision(_ object: ManifestObject) throws(ManifestFaults) -> Int {
        guard let value = object.value("revision") else { return 1 }
        guard case .number(let text) = value.content, let revision = Int32(text), revision > 0 else {
            throw object.place.member("revision").expected("a whole number of 1 or more", value)
        }
        return Int(revision)
    }

    private static func after(_ object: ManifestObject) throws(ManifestFaults) -> [String] {
        var ids: [String] = []
        for element in try object.list("after", "a list of ids of steps") {
            guard case .string(let id) = element.content else {
                throw object.place.member("after").expected("ids of steps", element)
            }
            ids.append(id)
        }
        return ids
    }

    /// - Parameter work: `nil` if that is wrong itself.
    private static func conflictPolicy(
        _ object: ManifestObject, _ kind: String, _ work: Work?
    ) throws(ManifestFaults) -> MigrationConflictPolicy {
        let word = try object.choice("onConflict", MigrationConflictPolicy.allCases.map(\.rawValue))
        guard let policy = word.flatMap({ MigrationConflictPolicy(rawValue: $0) }) else { return .keepDestination }
        guard case .keys(let action)? = work, action.sources.isEmpty else { return policy }
        throw object.place.member("onConflict").error(
            "a '\(kind)' like this brings nothing that could conflict with what is there; leave it out")
    }

    /// - Parameter work: `nil` if that is wrong itself.
    private static func condition(
        _ object: ManifestObject, _ kind: String, _ work: Work?
    ) throws(ManifestFaults) -> StepCondition {
        var condition = StepCondition()
        if let value = object.value("when") {
            let place = object.place.member("when")
            if case .range? = work {
                throw place.error(
                    "a step for a prefix has no condition, as its values may be of several versions; leave it out")
            }
            let versions = try ManifestObject(value, at: place, members: ["dataVersion", "appVersion"])
            if let text = versions.value("dataVersion") {
                if case .keys(let action)? = work, action is DefaultValue {
                    throw place.error("there is no data whose version could be asked for; use 'appVersion'")
                }
                condition.dataVersion = try VersionCondition(text, at: place.member("dataVersion"))
            }
            if let text = versions.value("appVersion") {
                condition.appVersion = try VersionCondition(text, at: place.member("appVersion"))
            }
            guard condition.dataVersion != nil || condition.appVersion != nil else {
                throw place.error("has no version; expected 'dataVersion' or 'appVersion'")
            }
        }
        // A value that the app of today wrote looks as one that is still to be changed.
        if case .keys(let action)? = work, action is FieldMapping, action.changesInPlace, condition.dataVersion == nil {
            throw object.place.error(
                "changes a value in place, and does not say which versions of the app wrote it the old way",
                hint: "write \"when\": { \"dataVersion\": \"<VERSION\" }, or give 'map' another key in 'to'")
        }
        return condition
    }
}

/// Tells what a step does from what it did before, for the ledger: FNV-1a, 64 bits, of the step's JSON without spaces
/// and with the members of every object in order of their bytes, so that neither counts, nor whether the configuration
/// or a file has it. It is for the operator's own mistakes, not against someone who makes two steps alike on purpose.
enum StepFingerprint {
    /// - Parameter names: Members of the step that say nothing of what it does.
    static func of(_ step: JSON, besides names: [String]) -> String {
        guard case .object(var object) = step.content else { return hash(step.text) }
        for name in names { object[name] = nil }
        return hash(JSON.object(object).ordered.text)
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> String {
        String(StableHash.of(Array(bytes)), radix: 16)
    }
}

extension JSON {
    /// The same value, members by the bytes of their names.
    fileprivate var ordered: JSON {
        switch content {
        case .null, .bool, .number, .string: self
        case .array(let elements): .array(elements.map(\.ordered))
        case .object(let object):
            .object(
                JSONObject(
                    members: object.members.map { JSONObject.Member(name: $0.name, value: $0.value.ordered) }
                        .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
        }
    }
}

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

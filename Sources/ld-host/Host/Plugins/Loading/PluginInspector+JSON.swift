internal import FoundationEssentials
internal import HostGround
internal import JSON
internal import LocalDataAPI

/// What an inspection found, as JSON: from process to process, and in the index. It is written and read without
/// `Codable`, whose look-ups at run time take longer in a short process than all else that finds a plugin.
extension PluginInspector.Report {
    /// The reports in a text; `nil` if it has anything else.
    static func list(in text: some Sequence<UInt8>) -> [Self]? {
        guard let json = JSON.strict(text), case .array(let elements) = json.content else { return nil }
        let reports = elements.compactMap { Self($0) }
        return reports.count == elements.count ? reports : nil
    }

    /// The text of reports.
    static func text(of reports: [Self]) -> [UInt8] { JSON.array(reports.map(\.json)).text }

    /// The report in a text; `nil` if it has anything else.
    init?(text: some Sequence<UInt8>) {
        guard let json = JSON.strict(text) else { return nil }
        self.init(json)
    }

    /// The text of this report.
    var text: [UInt8] { json.text }

    var json: JSON {
        .members([
            ("description", description?.json), ("refusal", refusal?.json), ("end", end?.json),
        ])
    }

    init?(_ json: JSON) {
        guard case .object(let members) = json.content else { return nil }
        self.init(
            description: members["description"].flatMap { PluginDescription($0) },
            refusal: members["refusal"].flatMap { Refusal($0) }, end: members["end"].flatMap { End($0) })
    }
}

extension PluginInspector.Report.End {
    fileprivate var json: JSON {
        switch self {
        case .exited(let status): .members([("exited", .number("\(status)"))])
        case .signalled(let signal): .members([("signalled", .number("\(signal)"))])
        case .timedOut: .members([("timedOut", .bool(true))])
        }
    }

    fileprivate init?(_ json: JSON) {
        guard case .object(let members) = json.content, let member = members.members.first else { return nil }
        switch (member.name, member.value.integer.flatMap { Int32(exactly: $0) }) {
        case ("exited", let status?): self = .exited(status)
        case ("signalled", let signal?): self = .signalled(signal)
        case ("timedOut", nil): self = .timedOut
        default: return nil
        }
    }
}

extension PluginInspector.Report.Refusal {
    fileprivate var json: JSON {
        .members([("code", .number("\(code)")), ("message", .string(message)), ("hint", .string(hint))])
    }

    fileprivate init?(_ json: JSON) {
        guard case .object(let members) = json.content,
            let code = members["code"]?.integer.flatMap({ Int32(exactly: $0) }),
            let message = members["message"]?.string, let hint = members["hint"]?.string
        else { return nil }
        self.init(code: code, message: message, hint: hint)
    }
}

extension PluginDescription {
    fileprivate var json: JSON {
        .members([
            ("name", .string(name)), ("version", .string(version)), ("abi", .string(abi)),
            ("components", .array(components.map(\.json))),
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard case .object(let members) = json.content, let name = members["name"]?.string,
            let version = members["version"]?.string, let abi = members["abi"]?.string,
            case .array(let elements)? = members["components"]?.content
        else { return nil }
        let components = elements.compactMap { Component($0) }
        guard components.count == elements.count else { return nil }
        self.init(name: name, version: version, abi: abi, components: components)
    }
}

extension PluginDescription.Component {
    fileprivate var json: JSON {
        .members([
            ("kind", .number("\(kind)")), ("id", .string(id)), ("summary", .string(summary)),
            ("options", .array(options.map(\.json))),
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard case .object(let members) = json.content,
            let kind = members["kind"]?.integer.flatMap({ Int32(exactly: $0) }), let id = members["id"]?.string,
            let summary = members["summary"]?.string,
            let options = members["options"].flatMap({ ComponentOption.list($0) })
        else { return nil }
        self.init(kind: kind, id: id, summary: summary, options: options)
    }
}

extension ComponentOption {
    /// The options in a component's list, as the C header describes it; `nil` if it is anything else.
    static func list(in text: some Sequence<UInt8>) -> [ComponentOption]? { JSON.strict(text).flatMap { list($0) } }

    fileprivate static func list(_ json: JSON) -> [ComponentOption]? {
        guard case .array(let elements) = json.content else { return nil }
        let options = elements.compactMap { ComponentOption($0) }
        return options.count == elements.count ? options : nil
    }

    fileprivate var json: JSON {
        .members([
            ("name", .string(name)), ("type", .string(type.rawValue)), ("default", `default`?.json),
            ("help", .string(help)), ("allowed", allowed.map { .array($0.map { .string($0) }) }),
            ("pattern", pattern.map { .string($0) }),
            ("required", required ? .bool(true) : nil), ("secret", isSecret ? .bool(true) : nil),
        ])
    }

    /// `nil` for what no option can be; `help`, `pattern`, `required` and `secret` may be missing.
    fileprivate init?(_ json: JSON) {
        guard case .object(let members) = json.content, let name = members["name"]?.string,
            let type = members["type"]?.string.flatMap({ Kind(rawValue: $0) })
        else { return nil }
        func given(_ member: String) -> JSON? {
            guard let value = members[member] else { return nil }
            if case .null = value.content { return nil }
            return value
        }
        var value: Value?
        if let found = given("default") {
            guard let known = (try? JSONValue(found))?.option else { return nil }
            value = known
        }
        var allowed: [String]?
        if let found = given("allowed") {
            guard case .array(let elements) = found.content else { return nil }
            allowed = elements.compactMap(\.string)
            guard allowed?.count == elements.count else { return nil }
        }
        var pattern: String?
        if let found = given("pattern") {
            guard let text = found.string, (try? Regex(text)) != nil else { return nil }
            pattern = text
        }
        var help = ""
        if let found = given("help") {
            guard let text = found.string else { return nil }
            help = text
        }
        func isTrue(_ member: String) -> Bool? {
            guard let found = given(member) else { return false }
            guard case .bool(let isTrue) = found.content else { return nil }
            return isTrue
        }
        guard let required = isTrue("required"), let isSecret = isTrue("secret"), !isSecret || type == .string else {
            return nil
        }
        self.init(name, type, value, help, allowed, required, isSecret: isSecret, pattern: pattern)
    }
}

extension ComponentOption.Value {
    fileprivate var json: JSON {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .number("\(number)")
        case .number(let number): .number("\(number)")
        case .boolean(let value): .bool(value)
        case .list(let values): .array(values.map { JSON(JSONValue($0.content)) })
        }
    }
}

extension JSON {
    /// How deeply a plugin may nest the default of an option.
    private static let deepest = 64

    /// The value in a text; `nil` if the text is not JSON.
    static func strict(_ text: some Sequence<UInt8>) -> JSON? { (try? JSON.read(Array(text), deepest: deepest)) ?? nil }

    /// An object without the members that are `nil`.
    static func members(_ members: [(String, JSON?)]) -> JSON {
        .object(JSONObject(members: members.compactMap { name, value in value.map { .init(name: name, value: $0) } }))
    }

    var string: String? { if case .string(let text) = content { text } else { nil } }

    var integer: Int64? { if case .number(let text) = content { Int64(text) } else { nil } }

    fileprivate init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let number): self = .number("\(number)")
        case .double(let number): self = .number("\(number)")
        case .string(let text): self = .string(text)
        case .array(let values): self = .array(values.map { JSON($0) })
        case .object(let values):
            self = .object(JSONObject(members: values.map { .init(name: $0.key, value: JSON($0.value)) }))
        }
    }
}

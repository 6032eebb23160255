internal import LocalDataAPI

/// What a configuration may say: paths, kinds, and what each value is for.
package enum ConfigurationSchema {
    /// What kind of value a path takes.
    enum Kind: Sendable {
        case text
        case textNoSlash
        case path
        case strings
        case positive
        case count
        case oneOf([String])
        /// Checked against the component's own list when the store is opened.
        case options
        case sealing
        case name
    }

    /// One path; `*` stands for any name.
    struct Entry: Sendable {
        let path: [String]
        let kind: Kind
        let help: String

        init(_ path: String, _ kind: Kind, _ help: String) {
            self.path = path.split(separator: ".").map(String.init)
            self.kind = kind
            self.help = help
        }
    }

    static let entries: [Entry] = [
        Entry("plugins.path", .strings, "folders and files where plugins are looked for"),
        Entry("plugins.timeout", .positive, "seconds that looking at a plugin may take"),
        Entry("stores.*.component", .name, "the id of the component that serves the store"),
        Entry("stores.*.options", .options, "the component's options"),
        Entry("stores.*.sealing", .sealing, "how values are sealed before the store gets them"),
        Entry("stores.*.concurrency", .count, "the most calls at a time, 1 to 64"),
        Entry("stores.*.timeout", .positive, "seconds that a call over the network or to a person may take"),
        Entry("catalogs", .strings, "manifests that describe the keys of apps"),
        Entry("domains.*", .name, "the store that serves a domain, or a component's id"),
        Entry("keychain.service", .text, "the service of keychain keys that name none"),
        Entry("appGroups.default", .text, "the group of app group keys that name none"),
        Entry("appGroups.path", .path, "the folder with a folder for each group"),
        Entry("files.subDirectory", .textNoSlash, "sets this app's files apart"),
        Entry("directories.data", .path, "where data is kept"),
        Entry("directories.cache", .path, "where data is kept that can be made again"),
        Entry("directories.state", .path, "where journals are kept"),
        Entry("directories.config", .path, "what ${config} stands for"),
        Entry("app.version", .text, "the version of the running app"),
        Entry("device.role", .oneOf(DeviceRole.allCases.map(\.rawValue)), "what kind of device this is"),
        Entry("log.level", .oneOf(["debug", "info", "warning", "error", "off"]), "what is logged"),
    ]

    /// Every problem of a configuration's values.
    static func problems(
        in value: JSONValue, place: ([String]) -> String
    ) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        func add(_ path: [String], _ message: String, _ hint: String) {
            problems.append(
                ConfigurationProblem(place: place(path), path: ConfigurationPath(path), message: message, hint: hint))
        }
        func visit(_ value: JSONValue, _ path: [String]) {
            if let entry = entries.first(where: { matches($0.path, path) }) {
                if let expected = mismatch(value, entry.kind) {
                    add(path, "expected \(expected), found \(value.kind)", entry.help)
                }
                return
            }
            let below = entries.filter {
                $0.path.count > path.count && matches(Array($0.path.prefix(path.count)), path)
            }
            guard !below.isEmpty else {
                let known = Set(
                    entries.filter {
                        $0.path.count >= path.count && matches(Array($0.path.prefix(path.count - 1)), path.dropLast())
                    }
                    .map { $0.path[path.count - 1] })
                let near = EditDistance.nearest(to: path.last ?? "", among: known.sorted(), within: 2)
                add(
                    path, "there is no such setting",
                    near.map { "did you mean '\($0)'?" }
                        ?? "possible here are \(known.sorted().joined(separator: ", "))")
                return
            }
            guard case .object(let members) = value else {
                add(path, "expected an object, found \(value.kind)", "write { ... }")
                return
            }
            for key in members.keys.sorted() { visit(members[key] ?? .null, path + [key]) }
        }
        guard case .object(let members) = value else {
            add([], "expected an object, found \(value.kind)", "write { ... }")
            return problems
        }
        for key in members.keys.sorted() { visit(members[key] ?? .null, [key]) }
        problems += names(in: value, place)
        return problems
    }

    /// Problems with the names of domains and stores.
    private static func names(in value: JSONValue, _ place: ([String]) -> String) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        for group in ["domains", "stores"] {
            guard case .object(let members)? = value[[group]] else { continue }
            for name in members.keys.sorted() {
                let near = EditDistance.nearest(to: name, among: StorageDomain.standardNames, within: 2)
                if !isName(name) {
                    problems.append(
                        ConfigurationProblem(
                            place: place([group, name]), path: ConfigurationPath([group, name]),
                            message: "'\(name)' is no usable name",
                            hint: "start with a letter; then letters, digits, '.', '_' and '-', at most 64"))
                } else if group == "domains", let near, near != name {
                    problems.append(
                        ConfigurationProblem(
                            place: place([group, name]), path: ConfigurationPath([group, name]),
                            message: "there is no domain '\(name)'", hint: "did you mean '\(near)'?"))
                }
            }
        }
        return problems
    }

    static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        return isLetter(first)
            && text.utf8.allSatisfy {
                isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }

    private static func matches(_ pattern: [String], _ path: some Collection<String>) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// What was expected, if a value is not of a kind.
    private static func mismatch(_ value: JSONValue, _ kind: Kind) -> String? {
        switch (kind, value) {
        case (.text, .string(let text)) where !text.isEmpty && !text.utf8.contains(0): nil
        case (.textNoSlash, .string(let text))
        where !text.isEmpty && !text.utf8.contains(0) && !text.contains("/") && text != "." && text != "..":
            nil
        case (.name, .string(let text)) where isName(text): nil
        case (.path, .string(let text)) where text.hasPrefix("/") && !text.utf8.contains(0): nil
        case (.strings, .array(let elements)) where elements.allSatisfy(isText): nil
        case (.positive, .integer(let number)) where (1...86_400).contains(number): nil
        case (.positive, .double(let number)) where number >= 0.001 && number <= 86_400: nil
        case (.count, .integer(let number)) where (1...64).contains(number): nil
        case (.oneOf(let names), .string(let text)) where names.contains(text): nil
        case (.options, .object(let members)) where members.values.allSatisfy(isPlain): nil
        case (.sealing, .null), (.sealing, .object): nil
        case (.text, _): "text"
        case (.textNoSlash, _): "a folder's name without '/'"
        case (.name, _): "a name"
        case (.path, _): "an absolute path"
        case (.strings, _): "an array of text"
        case (.positive, _): "seconds, 0.001 to 86400"
        case (.count, _): "a whole number, 1 to 64"
        case (.oneOf(let names), _): "one of \(names.joined(separator: ", "))"
        case (.options, _): "an object of plain values"
        case (.sealing, _): "an object or null"
        }
    }

    private static func isText(_ value: JSONValue) -> Bool {
        if case .string(let text) = value { !text.isEmpty } else { false }
    }

    private static func isPlain(_ value: JSONValue) -> Bool {
        switch value {
        case .string, .integer, .double, .bool: true
        default: false
        }
    }
}

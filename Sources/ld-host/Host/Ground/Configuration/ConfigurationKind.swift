internal import LocalDataAPI

/// The kind of value that a key of the configuration takes.
package enum ConfigurationKind: Sendable, Equatable {
    /// An object whose members have rules of their own.
    case object
    /// An object whose members are checked elsewhere, against a component's schema.
    case freeObject
    /// A string that is not empty.
    case text
    /// The name of a store or the id of a component.
    case name
    /// The identifier of an app, or an empty string for none.
    case appIdentifier
    /// One of a few strings.
    case choice([String])
    /// A whole number within limits.
    case integer(ClosedRange<Int64>)
    /// A duration in seconds, more than zero and at most this.
    case seconds(upTo: Double)
    /// An absolute path: a relative one would depend on where the program happens to be started.
    case absolutePath
    /// An array of absolute paths.
    case absolutePaths
    /// A relative path that stays below its parent.
    case subdirectory
    /// How a store is sealed: `null` for not, the word for a key source with its defaults, or an object whose members
    /// have rules of their own.
    case sealing

    /// The expectation, for messages and for documentation.
    package var expected: String {
        switch self {
        case .object, .freeObject: "an object"
        case .text: "a string that is not empty"
        case .name: "a name (\(ConfigurationName.rule))"
        case .appIdentifier: "the identifier of an app (\(AppIdentifier.rule)), or \"\" for none"
        case .choice(let words): "one of " + Self.quoted(words)
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .seconds(let limit): "a number of seconds more than 0 and at most \(Int(limit))"
        case .absolutePath: "an absolute path"
        case .absolutePaths: "an array of absolute paths"
        case .subdirectory: "a relative path without '..'"
        case .sealing: "null, an object, or one of " + Self.quoted(HostSettings.Sealing.sources)
        }
    }

    /// The problem of a value: the place below it, and what was expected and found there; `nil` if it is valid.
    package func fault(in value: JSONValue) -> (path: [String], expected: String, found: String)? {
        switch (self, value) {
        case (.object, .object), (.freeObject, .object), (.sealing, .null), (.sealing, .object):
            return nil
        case (.absolutePaths, .array(let elements)):
            for (index, element) in elements.enumerated() {
                if let fault = Self.absolutePath.fault(in: element) {
                    return ([String(index)], fault.expected, fault.found)
                }
            }
            return nil
        case (_, .string(let string)):
            let showsText = takesText || self == .sealing
            return accepts(string) ? nil : ([], expected, showsText ? Self.quoted(string) : value.kind)
        case (.integer(let range), .integer(let whole)):
            return range.contains(whole) ? nil : ([], expected, "\(whole)")
        case (.seconds(let limit), .integer(let whole)):
            return whole > 0 && Double(whole) <= limit ? nil : ([], expected, "\(whole)")
        case (.seconds(let limit), .double(let number)):
            return number > 0 && number <= limit ? nil : ([], expected, "\(number)")
        default:
            return ([], expected, value.kind)
        }
    }

    /// Whether only a string can be right, so that `-c app.version=1.10` means the text and not the number.
    package var takesText: Bool {
        switch self {
        case .text, .name, .appIdentifier, .choice, .absolutePath, .subdirectory: true
        case .object, .freeObject, .integer, .seconds, .absolutePaths, .sealing: false
        }
    }

    private func accepts(_ string: String) -> Bool {
        switch self {
        case .text: !string.isEmpty
        case .name: ConfigurationName.isValid(string)
        case .appIdentifier: string.isEmpty || AppIdentifier.isValid(string)
        case .choice(let words): words.contains(string)
        case .absolutePath: string.hasPrefix("/") && !string.utf8.contains(0)
        case .subdirectory:
            !string.isEmpty && !string.hasPrefix("/") && !string.utf8.contains(0)
                && !string.split(separator: "/").contains("..")
        case .sealing: HostSettings.Sealing.sources.contains(string)
        case .object, .freeObject, .integer, .seconds, .absolutePaths: false
        }
    }

    /// Whether its object's members have rules of their own.
    var hasMembers: Bool { self == .object || self == .sealing }

    private static func quoted(_ words: [String]) -> String { words.map { "\"\($0)\"" }.joined(separator: ", ") }

    private static func quoted(_ string: String) -> String {
        string.count <= 80 ? (try? JSONValue.string(string).serialized()) ?? "a string" : "a long string"
    }
}

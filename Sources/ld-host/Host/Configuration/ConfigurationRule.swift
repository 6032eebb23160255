/// What one key of the configuration is for, and what it takes.
package struct ConfigurationRule: Sendable {
    /// The key path; a segment in angle brackets, such as `<store>`, stands for any name.
    package let pattern: [String]
    /// What kind of value it takes.
    package let kind: ConfigurationKind
    /// One sentence for the operator.
    package let help: String
    /// What holds where nothing is configured; nil if nothing does.
    package let defaultValue: JSONValue?
    /// Whether the object around it must have it.
    package let isRequired: Bool

    /// - Parameter pattern: The path with dots between its segments.
    package init(
        _ pattern: String, _ kind: ConfigurationKind, default defaultValue: JSONValue? = nil, isRequired: Bool = false,
        _ help: String
    ) {
        self.pattern = pattern.split(separator: ".").map(String.init)
        self.kind = kind
        self.help = help
        self.defaultValue = defaultValue
        self.isRequired = isRequired
    }

    /// Whether the rule speaks of a path.
    package func matches(_ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { Self.isPlaceholder($0) || $0 == $1 }
    }

    /// Whether a segment of a pattern stands for any name.
    package static func isPlaceholder(_ segment: String) -> Bool { segment.hasPrefix("<") }
}

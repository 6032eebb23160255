/// The shape of a configuration, as data: for checking, for help, and for the built-in defaults.
package struct ConfigurationSchema: Sendable {
    /// The rules, parents before their members.
    package let rules: [ConfigurationRule]

    package init(rules: [ConfigurationRule]) { self.rules = rules }

    /// The rule for a path; nil if the configuration has no such key.
    package func rule(for path: [String]) -> ConfigurationRule? { rules.first { $0.matches(path) } }

    /// The defaults of all keys with a fixed name, as the lowest layer. Defaults of keys below a placeholder, such as
    /// a store's timeout, are with their rule: `defaultValue(at:)`.
    package var defaults: JSONValue {
        rules.reduce(.object([:])) { defaults, rule in
            guard let value = rule.defaultValue, !rule.pattern.contains(where: ConfigurationRule.isPlaceholder) else {
                return defaults
            }
            return defaults.setting(value, at: rule.pattern)
        }
    }

    /// What holds at a path where nothing is configured.
    package func defaultValue(at path: [String]) -> JSONValue? { rule(for: path)?.defaultValue }

    /// The rules for what may stand directly in the object at a path.
    package func members(of path: [String]) -> [ConfigurationRule] {
        rules.filter { rule in
            rule.pattern.count == path.count + 1
                && zip(rule.pattern, path).allSatisfy { ConfigurationRule.isPlaceholder($0) || $0 == $1 }
        }
    }
}

/// One option of a component. It is published so that a host can validate and explain a configuration.
public struct ComponentOption: Codable, Hashable, Sendable {
    /// The type of an option's value.
    public enum Kind: String, Codable, CaseIterable, Hashable, Sendable {
        /// Text.
        case string
        /// A whole number that fits 64 bits.
        case integer
        /// A number.
        case number
        /// `true` or `false`.
        case boolean
        /// An absolute path. The host expands `~/`, `${data}`, `${cache}`, `${state}` and `${config}` at its start.
        case path
        /// A list of values of any kind.
        case list
    }

    /// The default of an option.
    public enum Value: Hashable, Sendable {
        /// Text, or a path.
        case string(String)
        /// A whole number.
        case integer(Int64)
        /// A number.
        case number(Double)
        /// A truth value.
        case boolean(Bool)
        /// A list. Its numbers are 64-bit integers or floating point.
        case list([AnyCodable])
    }

    /// The option's name in a configuration.
    public let name: String
    /// The type of its value.
    public let type: Kind
    /// The value if the configuration sets none; `nil` leaves the option absent.
    public let `default`: Value?
    /// One line for people.
    public let help: String
    /// For strings: the allowed values; `nil` allows any.
    public let allowed: [String]?
    /// For strings: the regular expression that the whole value has to match; `nil` allows any value.
    public let pattern: String?
    /// Whether a configuration must set it.
    public let required: Bool
    /// Whether the value is a secret. A configuration then has the address of a value of the keychain instead, and the
    /// component receives that value when it is opened.
    public let isSecret: Bool

    enum CodingKeys: String, CodingKey {
        case name, type, `default`, help, allowed, pattern, required
        case isSecret = "secret"
    }

    package init(
        _ name: String, _ type: Kind, _ value: Value?, _ help: String, _ allowed: [String]?, _ required: Bool,
        isSecret: Bool = false, pattern: String? = nil
    ) {
        self.name = name
        self.type = type
        self.default = value
        self.help = help
        self.allowed = allowed
        self.required = required
        self.isSecret = isSecret
        self.pattern = pattern
    }

    /// An option that takes text.
    public static func string(
        _ name: String, default value: String? = nil, allowed: [String]? = nil, pattern: String? = nil,
        required: Bool = false, help: String
    ) -> ComponentOption {
        ComponentOption(name, .string, value.map(Value.string), help, allowed, required, pattern: pattern)
    }

    /// An option that takes a secret: text without NUL, as a value of the keychain holds it. It has no default.
    public static func secret(_ name: String, required: Bool = false, help: String) -> ComponentOption {
        ComponentOption(name, .string, nil, help, nil, required, isSecret: true)
    }

    /// An option that takes an absolute path.
    public static func path(
        _ name: String, default value: String? = nil, required: Bool = false, help: String
    ) -> ComponentOption {
        ComponentOption(name, .path, value.map(Value.string), help, nil, required)
    }

    /// An option that takes a whole number.
    public static func integer(
        _ name: String, default value: Int64? = nil, required: Bool = false, help: String
    ) -> ComponentOption {
        ComponentOption(name, .integer, value.map(Value.integer), help, nil, required)
    }

    /// An option that takes a number.
    public static func number(
        _ name: String, default value: Double? = nil, required: Bool = false, help: String
    ) -> ComponentOption {
        ComponentOption(name, .number, value.map(Value.number), help, nil, required)
    }

    /// An option that takes `true` or `false`.
    public static func boolean(
        _ name: String, default value: Bool? = nil, required: Bool = false, help: String
    ) -> ComponentOption {
        ComponentOption(name, .boolean, value.map(Value.boolean), help, nil, required)
    }

    /// An option that takes a list.
    public static func list(_ name: String, required: Bool = false, help: String) -> ComponentOption {
        ComponentOption(name, .list, nil, help, nil, required)
    }
}

extension ComponentOption.Value: Codable {
    /// Reads a JSON string, number, truth value or array.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([AnyCodable].self) {
            self = .list(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// Writes a JSON string, number, truth value or array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        }
    }
}

extension ComponentOption {
    /// Reads an option as the C header describes it; `required` and `help` may be missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        type = try container.decode(Kind.self, forKey: .type)
        `default` = try container.decodeIfPresent(Value.self, forKey: .default)
        help = try container.decodeIfPresent(String.self, forKey: .help) ?? ""
        allowed = try container.decodeIfPresent([String].self, forKey: .allowed)
        pattern = try container.decodeIfPresent(String.self, forKey: .pattern)
        required = try container.decodeIfPresent(Bool.self, forKey: .required) ?? false
        isSecret = try container.decodeIfPresent(Bool.self, forKey: .isSecret) ?? false
    }

    /// Writes an option as the C header describes it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(type, forKey: .type)
        try container.encodeIfPresent(`default`, forKey: .default)
        try container.encode(help, forKey: .help)
        try container.encodeIfPresent(allowed, forKey: .allowed)
        try container.encodeIfPresent(pattern, forKey: .pattern)
        try container.encode(required, forKey: .required)
        if isSecret { try container.encode(true, forKey: .isSecret) }
    }
}

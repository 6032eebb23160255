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
        required = try container.decodeIfPresent(Bool.self, forKey: .required) ?? false
    }

}

package import LocalDataAPI

extension JSONValue {
    /// The same value as the API's type for it.
    package init(_ content: AnyCodable.Content) {
        switch content {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map { JSONValue($0.content) })
        case .dictionary(let values): self = .object(values.mapValues { JSONValue($0.content) })
        }
    }

    /// The same value in the API's type.
    package var anyCodable: AnyCodable {
        switch self {
        case .null: AnyCodable(.null)
        case .bool(let value): AnyCodable(.bool(value))
        case .integer(let value): AnyCodable(.int(value))
        case .double(let value): AnyCodable(.double(value))
        case .string(let value): AnyCodable(.string(value))
        case .array(let values): AnyCodable(.array(values.map(\.anyCodable)))
        case .object(let values): AnyCodable(.dictionary(values.mapValues(\.anyCodable)))
        }
    }
}

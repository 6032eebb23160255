internal import FoundationEssentials
internal import JSON

/// A JSON value as a property list has it.
struct PropertyListValue: Encodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    private let value: JSON

    /// The bytes of a binary property list.
    ///
    /// - Throws: `PlaceFault` for null, for a number that would lose digits, and for a value that is no list and no
    ///   object: a property list has no such things.
    static func bytes(of value: JSON) throws(PlaceFault) -> Data {
        let whole = JSONPointer(tokens: [])
        switch value.content {
        case .array, .object: try check(value, whole)
        default: throw PlaceFault(place: whole, message: "is \(value.kind), expected a list or an object")
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        do { return try encoder.encode(PropertyListValue(value: value)) } catch {
            throw PlaceFault(place: whole, message: "could not be written as a property list")
        }
    }

    private init(value: JSON) { self.value = value }

    private static func check(_ value: JSON, _ place: JSONPointer) throws(PlaceFault) {
        switch value.content {
        case .null: throw PlaceFault(place: place, message: "is null, which a property list cannot express")
        case .number(let text):
            guard Int64(text) != nil || UInt64(text) != nil || DecimalNumber.exactDouble(text) != nil else {
                throw PlaceFault(place: place, message: "is a number that would lose digits in a property list")
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() { try check(element, place.appending("\(index)")) }
        case .object(let object):
            for member in object.members { try check(member.value, place.appending(member.name)) }
        case .bool, .string: return
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch value.content {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(PropertyListValue(value: element)) }
        case .object(let object):
            var container = encoder.container(keyedBy: Name.self)
            for member in object.members {
                try container.encode(PropertyListValue(value: member.value), forKey: Name(stringValue: member.name))
            }
        default:
            var container = encoder.singleValueContainer()
            switch value.content {
            case .bool(let flag): try container.encode(flag)
            case .string(let text): try container.encode(text)
            case .number(let text):
                // As a whole number it would lose its sign.
                let isNegativeZero = text == "-0"
                if !isNegativeZero, let whole = Int64(text) {
                    try container.encode(whole)
                } else if !isNegativeZero, let whole = UInt64(text) {
                    try container.encode(whole)
                } else {
                    try container.encode(DecimalNumber.exactDouble(text))
                }
            case .null, .array, .object: try container.encodeNil()
            }
        }
    }
}

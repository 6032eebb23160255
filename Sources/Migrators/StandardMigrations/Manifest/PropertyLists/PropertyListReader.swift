internal import FoundationEssentials
internal import JSON
internal import LocalDataAPI

/// Reads a binary property list as JSON has the same value: bytes as base64 and dates as seconds since 2001, which is
/// how `Serializer.json` writes them. Damaged or hostile bytes end in an error, in time that is bounded by their
/// number.
struct PropertyListReader {
    static let magic = "bplist00"

    private let list: BinaryPropertyList

    /// Whether bytes are a property list of any form, as opposed to JSON.
    static func isPropertyList(_ data: Data) -> Bool {
        let start = data.prefix(64).drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return data.starts(with: "bplist".utf8) || start.first == UInt8(ascii: "<")
    }

    /// The value in bytes.
    static func read(_ data: Data) throws(PlaceFault) -> JSON {
        let whole = JSONPointer(tokens: [])
        guard data.starts(with: magic.utf8) else {
            throw PlaceFault(place: whole, message: "is not a binary property list")
        }
        let list = try checked(at: whole) { () throws(PropertyListFault) in
            try BinaryPropertyList(data, deepest: JSON.deepest)
        }
        return try PropertyListReader(list: list).value(list.top, whole)
    }

    private static func checked<Value>(
        at place: JSONPointer, _ body: () throws(PropertyListFault) -> Value
    ) throws(PlaceFault) -> Value {
        do throws(PropertyListFault) { return try body() } catch {
            throw PlaceFault(place: place, message: error.message)
        }
    }

    private func value(_ index: Int, _ place: JSONPointer) throws(PlaceFault) -> JSON {
        let (object, references) = try Self.checked(at: place) { () throws(PropertyListFault) in
            let object = try list.object(index)
            return (object, try list.references(of: object))
        }
        let content = list.content(of: object)
        switch object.kind {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .whole: return .number(try whole(content, place))
        case .real, .date: return try real(content, place)
        case .data: return .string(Data(content).base64EncodedString())
        case .utf8: return .string(try text(String(validating: content, as: UTF8.self), place))
        case .utf16:
            let bytes = Array(content)
            let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return .string(try text(String(validating: units, as: UTF16.self), place))
        case .list:
            var elements: [JSON] = []
            for (position, reference) in references.enumerated() {
                elements.append(try value(reference, place.appending("\(position)")))
            }
            return .array(elements)
        case .dictionary: return try dictionary(references, place)
        case .set, .other: throw PlaceFault(place: place, message: "is of a kind that JSON does not have")
        }
    }

    /// Up to 4 bytes are without a sign, 8 have one, and 16 hold what 64 bits without a sign have.
    private func whole(_ bytes: ArraySlice<UInt8>, _ place: JSONPointer) throws(PlaceFault) -> String {
        var number: UInt64 = 0
        for byte in bytes.suffix(8) { number = number << 8 | UInt64(byte) }
        guard bytes.count == 16 else { return bytes.count == 8 ? "\(Int64(bitPattern: number))" : "\(number)" }
        guard bytes.prefix(8).allSatisfy({ $0 == 0 }) else {
            throw PlaceFault(place: place, message: "is a whole number of more than 64 bits")
        }
        return "\(number)"
    }

    private func real(_ bytes: ArraySlice<UInt8>, _ place: JSONPointer) throws(PlaceFault) -> JSON {
        var bits: UInt64 = 0
        for byte in bytes { bits = bits << 8 | UInt64(byte) }
        let isFloat = bytes.count == 4
        let value = isFloat ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
        guard value.isFinite else {
            throw PlaceFault(place: place, message: "is infinite or not a number, which JSON cannot express")
        }
        // The digits that a float was written with; of a whole number, all of its digits.
        let text = isFloat && value != value.rounded() ? "\(Float(value))" : "\(value)"
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    private func text(_ text: String?, _ place: JSONPointer) throws(PlaceFault) -> String {
        guard let text else { throw PlaceFault(place: place, message: "is a text that is not valid Unicode") }
        return text
    }

    private func dictionary(_ references: [Int], _ place: JSONPointer) throws(PlaceFault) -> JSON {
        let count = references.count / 2
        var members: [JSONObject.Member] = []
        var names: Set<[UInt8]> = []
        for position in 0..<count {
            guard case .string(let name) = try value(references[position], place).content else {
                throw PlaceFault(place: place, message: "has a name that is not text")
            }
            guard names.insert(Array(name.utf8)).inserted else {
                throw PlaceFault(place: place, message: "has a member twice")
            }
            let member = try value(references[count + position], place.appending(name))
            members.append(JSONObject.Member(name: name, value: member))
        }
        return .object(JSONObject(members: members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
    }
}

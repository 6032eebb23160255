internal import FoundationEssentials

/// Reads a binary property list as JSON has the same value: bytes as base64 and dates as seconds since 2001, which is how
/// `Serializer.json` writes them. Damaged or hostile bytes end in an error, in time that is bounded by their number.
struct PropertyListReader {
    static let magic = "bplist00"
    private static let deepest = JSONParser.deepest

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let tableStart: Int
    private var visits = 0

    /// Whether bytes are a property list of any form, as opposed to JSON.
    static func isPropertyList(_ data: Data) -> Bool {
        let start = data.prefix(64).drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return data.starts(with: "bplist".utf8) || start.first == UInt8(ascii: "<")
    }

    /// The value in bytes.
    static func read(_ data: Data) throws(PlaceFault) -> JSON {
        guard data.starts(with: magic.utf8) else { throw damaged("is no binary property list") }
        var reader = try PropertyListReader([UInt8](data))
        return try reader.object(try reader.trailerNumber(16), JSONPointer(tokens: []))
    }

    private init(_ bytes: [UInt8]) throws(PlaceFault) {
        guard bytes.count >= 8 + 1 + 1 + 32 else { throw Self.damaged("is a damaged property list") }
        self.bytes = bytes
        offsetSize = Int(bytes[bytes.count - 26])
        referenceSize = Int(bytes[bytes.count - 25])
        var numbers: [Int] = []
        for index in [8, 24] {
            var number: UInt64 = 0
            for byte in bytes[(bytes.count - 32 + index)...].prefix(8) { number = number << 8 | UInt64(byte) }
            guard let number = Int(exactly: number) else { throw Self.damaged("is a damaged property list") }
            numbers.append(number)
        }
        (count, tableStart) = (numbers[0], numbers[1])
        let table = count.multipliedReportingOverflow(by: offsetSize)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), !table.overflow, count > 0,
            tableStart >= 8, tableStart <= bytes.count - 32, table.partialValue <= bytes.count - 32 - tableStart
        else { throw Self.damaged("is a damaged property list") }
    }

    private static func damaged(_ message: String, at place: JSONPointer = JSONPointer(tokens: [])) -> PlaceFault {
        PlaceFault(place: place, message: message)
    }

    private func trailerNumber(_ offset: Int) throws(PlaceFault) -> Int {
        try number(at: bytes.count - 32 + offset, size: 8, end: bytes.count)
    }

    /// A whole number of so many bytes, the highest first.
    private func number(at start: Int, size: Int, end: Int? = nil) throws(PlaceFault) -> Int {
        let bytes = try slice(start, size, end: end)
        var number: UInt64 = 0
        for byte in bytes {
            guard number >> 56 == 0 else { throw Self.damaged("is a damaged property list") }
            number = number << 8 | UInt64(byte)
        }
        guard let number = Int(exactly: number) else { throw Self.damaged("is a damaged property list") }
        return number
    }

    /// So many bytes of the objects.
    private func slice(_ start: Int, _ count: Int, end: Int? = nil) throws(PlaceFault) -> ArraySlice<UInt8> {
        guard start >= 8, count >= 0, start <= (end ?? tableStart), count <= (end ?? tableStart) - start else {
            throw Self.damaged("is a damaged property list")
        }
        return bytes[start..<start + count]
    }
}

extension PropertyListReader {
    private mutating func object(_ index: Int, _ place: JSONPointer) throws(PlaceFault) -> JSON {
        // Every visit has a reference of its own in a list that no one made up.
        visits += 1
        guard index < count, visits <= bytes.count else { throw Self.damaged("is a damaged property list") }
        guard place.tokens.count <= Self.deepest else {
            throw Self.damaged("has more than \(Self.deepest) nested values")
        }
        let start = try number(at: tableStart + index * offsetSize, size: offsetSize, end: bytes.count - 32)
        let marker = try slice(start, 1).first ?? 0
        let (kind, low) = (marker >> 4, Int(marker & 0x0F))
        switch (kind, low) {
        case (0x0, 0x0): return .null
        case (0x0, 0x8): return .bool(false)
        case (0x0, 0x9): return .bool(true)
        case (0x1, 0...4): return .number(try whole(start + 1, size: 1 << low, place))
        case (0x2, 2), (0x2, 3): return try real(start + 1, size: 1 << low, place)
        case (0x3, 3): return try real(start + 1, size: 8, place)
        case (0x4, _):
            let (first, count) = try extent(start, low)
            return .string(Data(try slice(first, count)).base64EncodedString())
        case (0x5, _), (0x6, _), (0x7, _): return .string(try text(start, kind, low, place))
        case (0xA, _):
            let (first, count) = try extent(start, low)
            var elements: [JSON] = []
            for position in 0..<count {
                elements.append(try object(try reference(first, position), place.appending("\(position)")))
            }
            return .array(elements)
        case (0xD, _): return try dictionary(start, low, place)
        default: throw Self.damaged("is of a kind that JSON does not have", at: place)
        }
    }

    private func reference(_ first: Int, _ position: Int) throws(PlaceFault) -> Int {
        try number(at: first + position * referenceSize, size: referenceSize)
    }

    /// Where the content of an object begins, and how many elements it has.
    private func extent(_ start: Int, _ low: Int) throws(PlaceFault) -> (start: Int, count: Int) {
        guard low == 0x0F else { return (start + 1, low) }
        let marker = try slice(start + 1, 1).first ?? 0
        guard marker >> 4 == 0x1, marker & 0x0F <= 3 else { throw Self.damaged("is a damaged property list") }
        let size = 1 << Int(marker & 0x0F)
        let count = try number(at: start + 2, size: size)
        guard count <= bytes.count else { throw Self.damaged("is a damaged property list") }
        return (start + 2 + size, count)
    }

    /// Up to 4 bytes are without a sign, 8 have one, and 16 hold what 64 bits without a sign have.
    private func whole(_ start: Int, size: Int, _ place: JSONPointer) throws(PlaceFault) -> String {
        let bytes = try slice(start, size)
        var number: UInt64 = 0
        for byte in bytes.suffix(8) { number = number << 8 | UInt64(byte) }
        guard size == 16 else { return size == 8 ? "\(Int64(bitPattern: number))" : "\(number)" }
        guard bytes.prefix(8).allSatisfy({ $0 == 0 }) else {
            throw Self.damaged("is a whole number of more than 64 bits", at: place)
        }
        return "\(number)"
    }

    private func real(_ start: Int, size: Int, _ place: JSONPointer) throws(PlaceFault) -> JSON {
        var bits: UInt64 = 0
        for byte in try slice(start, size) { bits = bits << 8 | UInt64(byte) }
        let value = size == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
        guard value.isFinite else {
            throw Self.damaged("is infinite or not a number, which JSON cannot say", at: place)
        }
        // Of a float the digits that it was written with.
        let text = size == 4 ? "\(Float(value))" : "\(value)"
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    private func text(_ start: Int, _ kind: UInt8, _ low: Int, _ place: JSONPointer) throws(PlaceFault) -> String {
        let (first, count) = try extent(start, low)
        var text: String?
        if kind == 0x6 {
            let bytes = Array(try slice(first, count * 2))
            let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            text = String(validating: units, as: UTF16.self)
        } else {
            text = String(validating: try slice(first, count), as: UTF8.self)
        }
        guard let text else { throw Self.damaged("is a text that is not valid Unicode", at: place) }
        return text
    }

    private mutating func dictionary(_ start: Int, _ low: Int, _ place: JSONPointer) throws(PlaceFault) -> JSON {
        let (first, count) = try extent(start, low)
        var members: [JSONObject.Member] = []
        var names: Set<[UInt8]> = []
        for position in 0..<count {
            guard case .string(let name) = try object(try reference(first, position), place) else {
                throw Self.damaged("has a name that is no text", at: place)
            }
            guard names.insert(Array(name.utf8)).inserted else {
                throw Self.damaged("has a member twice", at: place)
            }
            let value = try object(try reference(first, count + position), place.appending(name))
            members.append(JSONObject.Member(name: name, value: value))
        }
        return .object(JSONObject(members: members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
    }
}

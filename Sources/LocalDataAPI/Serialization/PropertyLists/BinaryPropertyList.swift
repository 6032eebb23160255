#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The objects of a binary property list, validated to lie within its bytes and to form a tree of limited depth.
///
/// The format is that of `CFBinaryPList.c` in CoreFoundation: a mark, the objects, a table of their offsets, a trailer.
package struct BinaryPropertyList {
    private static let mark = Array("bplist0".utf8)
    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let tableStart: Int
    /// The number of objects.
    package let count: Int
    /// The index of the root object.
    package let top: Int

    /// Whether decoders read the bytes as a binary property list.
    package static func fits(_ data: Data) -> Bool { data.starts(with: mark) }

    /// Validates every object that the root reaches, in time bounded by the number of bytes.
    ///
    /// - Parameter deepest: The deepest nesting of lists and dictionaries.
    package init(_ data: Data, deepest: Int = PropertyListFault.deepest) throws(PropertyListFault) {
        guard Self.fits(data), data.count > 8 + Self.trailerSize else { throw .damaged }
        bytes = Array(data)
        let trailer = bytes.suffix(Self.trailerSize)
        offsetSize = Int(trailer[trailer.startIndex + 6])
        referenceSize = Int(trailer[trailer.startIndex + 7])
        count = try Self.number(trailer.dropFirst(8).prefix(8))
        top = try Self.number(trailer.dropFirst(16).prefix(8))
        tableStart = try Self.number(trailer.dropFirst(24))
        let room = bytes.count - Self.trailerSize - tableStart
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), tableStart > 8, room > 0,
            count > 0, count <= room / offsetSize, top < count
        else { throw .damaged }
        try PropertyListNesting.check(self, deepest: deepest)
    }

    /// The most references and values in a list that repeats no object.
    var size: Int { bytes.count }

    /// The bytes of an object's content.
    package func content(of object: Object) -> ArraySlice<UInt8> { bytes[object.content] }

    /// The object at an index of the table.
    package func object(_ index: Int) throws(PropertyListFault) -> Object {
        guard (0..<count).contains(index) else { throw .damaged }
        let entry = tableStart + index * offsetSize
        let start = try Self.number(bytes[entry..<entry + offsetSize])
        guard start >= 8, start < tableStart else { throw .damaged }
        let (high, low) = (bytes[start] >> 4, Int(bytes[start] & 0x0F))
        switch (high, low) {
        case (0x0, 0x0): return Object(kind: .null)
        case (0x0, 0x8): return Object(kind: .bool(false))
        case (0x0, 0x9): return Object(kind: .bool(true))
        case (0x1, 0...4): return Object(kind: .whole, content: try range(start + 1, 1 << low))
        case (0x2, 2...3): return Object(kind: .real, content: try range(start + 1, 1 << low))
        case (0x3, 3): return Object(kind: .date, content: try range(start + 1, 8))
        case (0x4, _): return Object(kind: .data, content: try counted(start, low, 1))
        case (0x5, _), (0x7, _): return Object(kind: .utf8, content: try counted(start, low, 1))
        case (0x6, _): return Object(kind: .utf16, content: try counted(start, low, 2))
        case (0xA, _): return Object(kind: .list, content: try counted(start, low, referenceSize))
        case (0xC, _): return Object(kind: .set, content: try counted(start, low, referenceSize))
        case (0xD, _): return Object(kind: .dictionary, content: try counted(start, low, 2 * referenceSize))
        default: return Object(kind: .other)
        }
    }

    /// The objects that a container refers to; of a dictionary first the names, then as many values.
    package func references(of object: Object) throws(PropertyListFault) -> [Int] {
        guard object.kind.isContainer else { return [] }
        var references: [Int] = []
        references.reserveCapacity(object.content.count / referenceSize)
        for start in stride(from: object.content.lowerBound, to: object.content.upperBound, by: referenceSize) {
            references.append(try Self.number(bytes[start..<start + referenceSize]))
        }
        return references
    }

    /// A big-endian whole number.
    private static func number(_ bytes: ArraySlice<UInt8>) throws(PropertyListFault) -> Int {
        var number: UInt64 = 0
        for byte in bytes {
            guard number >> 56 == 0 else { throw .damaged }
            number = number << 8 | UInt64(byte)
        }
        guard let number = Int(exactly: number) else { throw .damaged }
        return number
    }

    /// A range of `count` bytes within the objects.
    private func range(_ start: Int, _ count: Int) throws(PropertyListFault) -> Range<Int> {
        guard start <= tableStart, count <= tableStart - start else { throw .damaged }
        return start..<start + count
    }

    /// The content of an object that states its element count: in its mark, or in a number after it.
    private func counted(_ start: Int, _ low: Int, _ size: Int) throws(PropertyListFault) -> Range<Int> {
        var (start, count) = (start + 1, low)
        if low == 0x0F {
            let mark = bytes[try range(start, 1)].first ?? 0
            guard mark >> 4 == 0x1, mark & 0x0F <= 3 else { throw .damaged }
            let number = try range(start + 1, 1 << Int(mark & 0x0F))
            (start, count) = (number.upperBound, try Self.number(bytes[number]))
        }
        guard count <= bytes.count else { throw .damaged }
        return try range(start, count * size)
    }
}

extension BinaryPropertyList {
    /// One object and the range of its content.
    package struct Object {
        /// The object's type.
        package enum Kind: Equatable {
            case null
            case bool(Bool)
            case whole
            case real
            case date
            case data
            case utf8
            case utf16
            case list
            case set
            case dictionary
            /// A type that decoders ignore.
            case other

            var isContainer: Bool { self == .list || self == .set || self == .dictionary }
        }

        package let kind: Kind
        let content: Range<Int>

        init(kind: Kind, content: Range<Int> = 0..<0) {
            self.kind = kind
            self.content = content
        }
    }
}

/// Why bytes are not decoded as a property list. It contains no value.
package struct PropertyListFault: CodingFault {
    /// The reason, to follow "it" or "the value".
    package let message: String
    package var account: String { "it \(message)" }

    /// The deepest nesting of lists and dictionaries, the same as of `JSONDecoder`.
    package static let deepest = 512

    static let damaged = PropertyListFault(message: "is a damaged property list")
    static let circular = PropertyListFault(message: "has a list or dictionary that contains itself")
    static let repeated = PropertyListFault(message: "refers to its values more often than it has bytes")

    static func tooDeep(_ deepest: Int) -> PropertyListFault {
        PropertyListFault(message: "nests more than \(deepest) lists and dictionaries")
    }
}

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a document says, whatever its spelling, to compare what a type reads with what was there.
indirect enum ValueTree: Decodable {
    case null
    case bool(Bool)
    case whole(Int64)
    case number(Double)
    case text(String)
    case bytes(Data)
    case date(Date)
    case list([ValueTree])
    case members([String: ValueTree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .whole(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([ValueTree].self) {
            self = .list(value)
        } else if let value = try? container.decode([String: ValueTree].self) {
            self = .members(value)
        } else if let value = try? container.decode(Data.self) {
            self = .bytes(value)
        } else {
            self = .date(try container.decode(Date.self))
        }
    }

    /// The tree of a document.
    ///
    /// - Throws: What the format's decoder throws; for formats without a structure, `nil` is returned.
    static func read(_ data: Data, as format: SerializerFormat) throws -> ValueTree? {
        switch format {
        case .json: try JSONCoding.decode(ValueTree.self, from: data)
        case .plist: try PropertyListCoding.decode(ValueTree.self, from: data)
        case .text, .data, .custom: nil
        }
    }
}

extension ValueTree: Equatable {
    /// A member that is null counts as absent, as encoders leave it out. Two numbers are the same if a `Float` cannot
    /// tell them apart: types read them with less precision than they may be written with.
    static func == (left: ValueTree, right: ValueTree) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.whole(let left), .whole(let right)): left == right
        case (.text(let left), .text(let right)): left.hasBytes(of: right)
        case (.bytes(let left), .bytes(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.members(let left), .members(let right)): left.present == right.present
        default: isSameNumber(left.double, right.double)
        }
    }

    private static func isSameNumber(_ left: Double?, _ right: Double?) -> Bool {
        guard let left, let right else { return false }
        return left == right || Float(left) == Float(right)
    }

    private var double: Double? {
        switch self {
        case .whole(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension [String: ValueTree] {
    fileprivate var present: [String: ValueTree] {
        filter { if case .null = $0.value { false } else { true } }
    }
}

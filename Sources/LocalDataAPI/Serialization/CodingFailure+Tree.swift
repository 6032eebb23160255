#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a decoder's error says once the bytes have been read as a tree.
extension CodingFailure {
    /// - Parameters:
    ///   - data: The bytes that were not decoded.
    ///   - format: Their format.
    ///   - decode: What has failed, for other bytes.
    init(_ error: any Error, in data: Data, as format: SerializerFormat, decode: (Data) throws -> Void) {
        guard let tree = try? ValueTree.read(data, as: format) else {
            self.init(error)
            return
        }
        var reason = error
        if case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty, format == .json,
            let number = Self.firstNumber(refusedIn: tree, by: decode)
        {
            reason = number
        }
        self.init(reason) { tree.value(at: $0)?.kind }
    }

    /// The first number that a JSON decoder refuses since the type has no such value, as a mismatch. The decoder itself
    /// reports it as invalid JSON, without its place: so it gets a text in its place, and says what it expected there.
    private static func firstNumber(refusedIn tree: ValueTree, by decode: (Data) throws -> Void) -> DecodingError? {
        for (path, number) in tree.numbers(at: []).prefix(mostNumbers) {
            guard let data = try? JSONCoding.encode(tree.replacing(path[...])) else { return nil }
            do { try decode(data) } catch DecodingError.typeMismatch(let type, let context) {
                guard context.codingPath.map(\.stringValue) == path.map(\.stringValue), !number.fits(type) else {
                    continue
                }
                return .typeMismatch(type, context)
            } catch {}
        }
        return nil
    }

    /// Numbers after these are not looked at.
    private static let mostNumbers = 256
}

extension ValueTree {
    /// A step to a value in a document, as decoders name it.
    fileprivate struct Step: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
        init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
    }

    /// What it is, in words.
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .whole: "a whole number"
        case .number(let value): value == value.rounded() ? "a large number" : "a number with a fraction"
        case .text: "a text"
        case .bytes: "bytes"
        case .date: "a date"
        case .list: "a list"
        case .members: "an object"
        }
    }

    /// The value at a path; `nil` if the path leads elsewhere.
    fileprivate func value(at path: [any CodingKey]) -> ValueTree? {
        var value = self
        for key in path {
            switch value {
            case .members(let members):
                guard let member = members[key.stringValue] else { return nil }
                value = member
            case .list(let elements):
                guard let index = key.intValue, elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// The numbers in it, with their paths.
    fileprivate func numbers(at path: [Step]) -> [(path: [Step], number: ValueTree)] {
        switch self {
        case .whole, .number: [(path, self)]
        case .list(let elements):
            elements.enumerated().flatMap { $1.numbers(at: path + [Step(intValue: $0)]) }
        case .members(let members):
            members.sorted { $0.key < $1.key }.flatMap { $1.numbers(at: path + [Step(stringValue: $0)]) }
        default: []
        }
    }

    /// The same with a text in the place of one value.
    fileprivate func replacing(_ path: ArraySlice<Step>) -> ValueTree {
        guard let step = path.first else { return .text("") }
        switch self {
        case .list(var elements):
            if let index = step.intValue { elements[index] = elements[index].replacing(path.dropFirst()) }
            return .list(elements)
        case .members(var members):
            members[step.stringValue] = members[step.stringValue]?.replacing(path.dropFirst())
            return .members(members)
        default: return self
        }
    }

    /// Whether a type of numbers has this one.
    fileprivate func fits(_ type: Any.Type) -> Bool {
        func has<Number: BinaryInteger>(_: Number.Type) -> Bool {
            switch self {
            case .whole(let value): Number(exactly: value) != nil
            case .number(let value): Number(exactly: value) != nil
            default: true
            }
        }
        guard let type = type as? any BinaryInteger.Type else { return true }
        return has(type)
    }
}

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where and why coding failed: the member, what was expected there, and the kind of what was found. Never the value,
/// which may be a secret.
struct CodingFailure: CustomStringConvertible {
    let description: String
    /// Whether the value as a whole was refused, rather than something in it.
    let isAtTop: Bool

    init(_ error: any Error) { self.init(error, in: nil) }

    /// - Parameters:
    ///   - data: The bytes that were not decoded.
    ///   - format: Their format.
    ///   - decode: What has failed, for other bytes.
    init(_ error: any Error, in data: Data, as format: SerializerFormat, decode: (Data) throws -> Void) {
        let tree = try? ValueTree.read(data, as: format)
        if case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty, format == .json, let tree,
            let number = Self.firstNumber(refusedIn: tree, by: decode)
        {
            self.init(number, in: tree)
        } else {
            self.init(error, in: tree)
        }
    }

    private init(_ error: any Error, in tree: ValueTree?) {
        var path: [any CodingKey] = []
        let (text, isFound): (String, Bool)
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            path = context.codingPath
            (text, isFound) = ("expected \(type) at \(Self.text(path))", true)
        case DecodingError.valueNotFound(let type, let context):
            path = context.codingPath
            (text, isFound) = ("no \(type) at \(Self.text(path))", false)
        case DecodingError.keyNotFound(let key, let context):
            path = context.codingPath
            (text, isFound) = ("no member '\(key.stringValue)' at \(Self.text(path))", false)
        case DecodingError.dataCorrupted(let context):
            path = context.codingPath
            let expected = Self.expected(in: context.debugDescription)
            isFound = tree != nil
            // A type may also refuse bytes that are well formed.
            text =
                if let expected { "expected \(expected) at \(Self.text(path))" } else if path.isEmpty, tree == nil {
                    "not well formed at \(Self.text(path))"
                } else { "a value that its type refuses at \(Self.text(path))" }
        case EncodingError.invalidValue(let value, let context):
            path = context.codingPath
            (text, isFound) = ("\(withArticle(type(of: value))) at \(Self.text(path)) cannot be encoded", false)
        case let fault as PropertyListFault: (text, isFound) = ("it \(fault.message)", false)
        case is TextFault: (text, isFound) = ("they are not UTF-8", false)
        default: (text, isFound) = ("\(type(of: error))", false)
        }
        let found = isFound ? tree?.value(at: path) : nil
        description = text + (found.map { ", found \($0.kind)" } ?? "")
        isAtTop = path.isEmpty
    }

    private static func text(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "the top" : keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

/// What the decoders of Foundation and of Swift say only in words.
extension CodingFailure {
    /// What was expected instead of a value that has the right kind.
    private static func expected(in text: String) -> String? {
        // Of `Cannot initialize Theme from invalid String value auto`, the value stays out.
        if let range = text.firstRange(of: " from invalid "), text.hasPrefix(enumeration) {
            return "a case of \(text[..<range.lowerBound].dropFirst(enumeration.count))"
        }
        if let range = text.firstRange(of: " does not fit in ") {
            return "\(text[range.upperBound...].prefix { $0.isLetter || $0.isNumber })"
        }
        return formats[text]
    }

    private static let enumeration = "Cannot initialize "

    private static let formats = [
        "Attempted to decode UUID from invalid UUID string.": "a UUID",
        "Invalid URL string.": "a URL",
        "Encountered Data is not valid Base64.": "Data in base64",
        "Expected date string to be ISO8601-formatted.": "a date in ISO 8601",
    ]

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

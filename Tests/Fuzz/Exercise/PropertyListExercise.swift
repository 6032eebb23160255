import FoundationEssentials
import JSON
import LocalDataAPI
import ReaderExercise

@testable import MigrationManifest

/// Property lists: through the serializer, which checks before it uses the toolchain's decoder, and through the reader
/// of migrations.
enum PropertyListExercise {
    static func run(_ bytes: Data) throws {
        let decoded = try? Serializer<AnyCodable>.plist.decode(bytes)
        if let decoded {
            let written = try? Serializer<AnyCodable>.plist.encode(decoded)
            if let written {
                let again = try? Serializer<AnyCodable>.plist.decode(written)
                try require(again != nil, "a property list that was written is not read")
            }
        }
        _ = PropertyListReader.isPropertyList(bytes)
        guard let json = try? PropertyListReader.read(bytes) else { return }
        if let decoded { try Likeness.require(json, decoded, "two readers of a property list disagree") }
        let parsed = try JSON.parse(json.text)
        try require(parsed == json, "a property list's JSON is read as another value")
        guard let written = try? PropertyListValue.bytes(of: json) else { return }
        let again = try PropertyListReader.read(written)
        try require(
            Likeness.isSame(again, json), "a property list that was written as one is read as another value")
    }

    static func samples() throws -> [[UInt8]] {
        struct Value: Encodable {
            var text = "ä😀", plain = "x", whole = -5, large = UInt64.max, real = 2.5, float = Float(0.1), zero = -0.0
            var yes = true, list = [1, 300, 70_000, 5_000_000_000], empty = [String](), bytes = Data([1, 2, 255])
            var date = Date(timeIntervalSinceReferenceDate: 700_000_000.5), nested = ["a": ["b": "c"]]
            var long = Array(repeating: "entry", count: 20)
        }
        return try [PropertyListDecoder.PropertyListFormat.binary, .xml].flatMap { format in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            let lists = [
                try encoder.encode(Value()), try encoder.encode(["a": [["b"]]]), try encoder.encode([1, 2]),
                try encoder.encode([String]()),
            ]
            return lists.map { Array($0) }
        } + [Array("{ a = (1, \"b\"); c = <00ff>; }".utf8)]
    }
}

/// Compares a value of the host's own JSON with the value that a decoder of the toolchain read.
enum Likeness {
    /// Whether two values are the same except for the digits of their numbers. The toolchain's encoder writes one
    /// object for 0.0 and -0.0, if a list has both.
    static func isSame(_ left: JSON, _ right: JSON) -> Bool {
        switch (left.content, right.content) {
        case (.number(let left), .number(let right)): Double(left) == Double(right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (.object(let left), .object(let right)):
            left.members.count == right.members.count
                && left.members.allSatisfy { member in right[member.name].map { isSame(member.value, $0) } ?? false }
        default: left == right
        }
    }

    static func require(_ json: JSON, _ value: AnyCodable, _ promise: String) throws {
        switch (json.content, value.content) {
        case (.array(let left), .array(let right)):
            try ReaderExercise.require(left.count == right.count, promise)
            for (left, right) in zip(left, right) { try require(left, right, promise) }
        case (.object(let object), .dictionary(let members)):
            // Two spellings of one character are two names here, but one name there.
            for member in object.members {
                guard let other = members[member.name] else { throw Violation(promise) }
                let isUnique = object.members.count { $0.name == member.name } == 1
                if isUnique { try require(member.value, other, promise) }
            }
        case (.number(let text), .int(let number)): try ReaderExercise.require(Double(text) == Double(number), promise)
        case (.number(let text), .double(let number)):
            // A float has as many digits as it takes to distinguish floats.
            let isFloat = Double(Float(number)) == number && Float(text) == Float(number)
            try ReaderExercise.require(Double(text) == number || isFloat, promise)
        case (.bool(let left), .bool(let right)): try ReaderExercise.require(left == right, promise)
        case (.string(let left), .string(let right)): try ReaderExercise.require(left == right, promise)
        case (.null, .null): break
        // Bytes and dates are strings and numbers only in JSON.
        default: throw Violation("\(promise): \(json.kind)")
        }
    }
}

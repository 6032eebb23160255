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

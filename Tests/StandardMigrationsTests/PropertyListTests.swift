import FoundationEssentials
import JSON
import Testing

@testable import MigrationManifest

@Suite("property lists as JSON") struct PropertyListTests {
    private struct Everything: Codable, Equatable {
        var text = "ä😀", plain = "x", whole = -5, large = UInt64.max, real = 2.5, third = 1.0 / 3, round = 4.0
        var float = Float(0.1), wholeFloat = Float(-429_494_272), yes = true, no = false,
            list = [1, 300, 70_000, 5_000_000_000], empty = [String]()
        var bytes = Data([1, 2, 255]), date = Date(timeIntervalSinceReferenceDate: 700_000_000.5)
        var nested = ["a": ["b": "c"]], long = Array(repeating: "entry", count: 40)
    }

    private func encoded(_ value: some Encodable) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
    }

    @Test("a property list converts to the same JSON as its value")
    func decoded() throws {
        let json = try PropertyListReader.read(try encoded(Everything()))
        #expect(try JSONDecoder().decode(Everything.self, from: Data(json.text)) == Everything())
        #expect(json.value(at: try #require(JSONPointer("/large"))) == .number("18446744073709551615"))
        #expect(json.value(at: try #require(JSONPointer("/float"))) == .number("0.1"))
        // The shortest digits that identify the float are those of another whole number.
        #expect(json.value(at: try #require(JSONPointer("/wholeFloat"))) == .number("-429494272"))
        #expect(json.value(at: try #require(JSONPointer("/round"))) == .number("4"))
    }

    @Test("JSON becomes a property list with the same values, and comes back")
    func encodedAgain() throws {
        struct Value: Codable, Equatable {
            var a = 1.1, b = UInt64.max, c = [true, false], d = ["x": "y"], e = -3
        }
        let json = try JSON.parse(try JSONEncoder().encode(Value()))
        let bytes = try PropertyListValue.bytes(of: json)
        #expect(try PropertyListDecoder().decode(Value.self, from: bytes) == Value())
        #expect(try PropertyListReader.read(bytes) == json)
    }

    @Test(
        "a value that a property list cannot express is refused with its position, without the value",
        arguments: [
            (#"{"a":[1,null]}"#, "'/a/1' is null"),
            (#"{"a":12345678901234567890123}"#, "'/a' is a number that would lose"),
            (#"{"a":{"b":1e400}}"#, "'/a/b' is a number"), ("\"secret\"", "the value is a string"),
            ("1", "the value is a number"),
        ])
    func refused(_ text: String, _ reason: String) throws {
        let json = try JSON.parse(Array(text.utf8))
        let fault = try #require(throws: PlaceFault.self) { try PropertyListValue.bytes(of: json) }
        #expect(fault.text.hasPrefix(reason) && !fault.text.contains("secret"))
    }

    @Test("each damaged byte, and each truncation, gives an error or another value, and never a crash")
    func damage() throws {
        let bytes = try encoded(Everything())
        for index in bytes.indices {
            for value in [0, 0x0F, 0x5F, 0xA1, 0xDF, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] = value
                _ = try? PropertyListReader.read(damaged)
            }
            #expect(throws: PlaceFault.self) { try PropertyListReader.read(bytes.prefix(index)) }
        }
    }

    /// A property list of `count` lists, each of which holds the next one `width` times, and the last one the first if
    /// `closed`.
    private func nested(_ count: Int, width: Int = 1, closed: Bool = false) -> Data {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var bytes = Array(PropertyListReader.magic.utf8)
        var offsets: [Int] = []
        for index in 0..<count {
            offsets.append(bytes.count)
            let next = index == count - 1 ? (closed ? 0 : nil) : index + 1
            bytes.append(0xA0 | UInt8(next == nil ? 0 : width))
            if let next { for _ in 0..<width { bytes += number(next, 4) } }
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset, 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        return Data(bytes + number(count, 8) + number(0, 8) + number(table, 8))
    }

    @Test("lists that contain themselves, are deep, or contain others many times, give an error at once")
    func hostile() throws {
        #expect(try PropertyListReader.read(nested(3)) == .array([.array([.array([])])]))
        for data in [
            nested(1, closed: true), nested(100_000), nested(40, width: 14), nested(200, width: 2, closed: true),
        ] {
            #expect(throws: PlaceFault.self) { try PropertyListReader.read(data) }
        }
        for text in ["", "bplist00", "<plist><array/></plist>", "{\"a\":1}", String(repeating: "\0", count: 100)] {
            #expect(throws: PlaceFault.self) { try PropertyListReader.read(Data(text.utf8)) }
        }
    }
}

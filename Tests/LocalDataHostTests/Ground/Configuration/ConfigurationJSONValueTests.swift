import FoundationEssentials
import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

@Suite("JSONValue (configuration)")
struct ConfigurationJSONValueTests {
    @Test("numbers compare by value, however they are stored")
    func numbers() {
        #expect(JSONValue.integer(5) == .double(5))
        #expect(JSONValue.double(5) == .integer(5))
        #expect(JSONValue.integer(5) != .double(5.5))
        #expect(JSONValue.integer(.max) != .double(9_223_372_036_854_775_808))
        #expect(JSONValue.integer(0) != .bool(false))
        #expect(JSONValue.null != .bool(false))
        #expect(JSONValue.string("1") != .integer(1))
    }

    @Test("serializing sorts keys and reads back as the same value", arguments: 0..<4)
    func roundTrip(seed: Int) throws {
        var generator = ConfigurationTextGenerator(seed: UInt64(seed))
        for _ in 0..<200 {
            let value = generator.value()
            for pretty in [false, true] {
                let text = try value.serialized(pretty: pretty)
                #expect(try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8)) == [value])
                #expect(try JSONValue(json5: text, source: "x") == value, "\(text)")
                #expect(try JSONValue(json5: text, source: "x").serialized(pretty: pretty) == text)
            }
        }
        #expect(try JSONValue.object(["b": .null, "a": .string("/")]).serialized() == #"{"a":"/","b":null}"#)
    }

    @Test("a number that JSON cannot express is an error", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(number: Double) {
        #expect(throws: StorageError.invalidConfiguration) { try JSONValue.array([.double(number)]).serialized() }
    }

    @Test("the largest integers keep every digit")
    func precision() throws {
        #expect(try JSONValue(json5: "9223372036854775807", source: "x").serialized() == "9223372036854775807")
        #expect(try JSONValue(json5: "-9223372036854775808", source: "x").serialized() == "-9223372036854775808")
        #expect(try JSONValue(json5: "5.0", source: "x").serialized() == "5")
    }

    @Test("a number that ends the text is read to its last digit and no further", arguments: 1...17)
    func numberAtTheEnd(digits: Int) throws {
        for _ in 0..<200 {
            let text = "0." + String(repeating: "7", count: digits)
            #expect(try JSONValue(json5: text, source: "x") == .double(try #require(Double(text))))
            #expect(try JSONValue(json5: "\(digits)", source: "x") == .integer(Int64(digits)))
        }
    }

    @Test(
        "a number is an integer if it is whole and fits 64 bits, however it is written",
        arguments: [
            ("-0x8000000000000000", .integer(.min)), ("0x8000000000000000", .double(0x1p63)), ("+0X1f", .integer(31)),
            ("9007199254740993.0", .integer(9_007_199_254_740_993)), ("1e18", .integer(1_000_000_000_000_000_000)),
            ("1234567890123456789.00", .integer(1_234_567_890_123_456_789)), ("9223372036854775808", .double(0x1p63)),
            ("-0.0", .integer(0)), ("2.", .integer(2)), ("-.5", .double(-0.5)), ("1e-400", .integer(0)),
            ("4e-324", .double(.leastNonzeroMagnitude)),
            ("9007199254740993.5", .double(9_007_199_254_740_994)),
        ] as [(String, JSONValue)])
    func numbers(text: String, value: JSONValue) throws {
        let read = try JSONValue(json5: text, source: "x")
        switch (read, value) {
        case (.integer, .integer), (.double, .double): #expect(read == value)
        default: Issue.record("\(read)")
        }
    }

    @Test("a number that does not fit is refused", arguments: ["1e400", "0x8000000000000001", "-0x8000000000000001"])
    func largeNumbers(text: String) {
        #expect(throws: StorageError.invalidConfiguration) { try JSONValue(json5: text, source: "x") }
    }

    @Test("a text with no value, or more than one, is an error", arguments: ["", "// x", "1 2", "{", "memory"])
    func noValue(text: String) {
        #expect(throws: StorageError.invalidConfiguration) { try JSONValue(json5: text, source: "x") }
    }
}

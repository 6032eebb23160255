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

@Suite("ConfigurationPath")
struct ConfigurationPathTests {
    @Test(
        "a parsed path prints as it was written",
        arguments: [
            ("a", ["a"]), ("a.b.0", ["a", "b", "0"]), (#"domains."x.custom""#, ["domains", "x.custom"]),
            (#""".a"#, ["", "a"]), (#"a."b=c""#, ["a", "b=c"]), (#"a."q\"\\""#, ["a", "q\"\\"]),
            ("é.ключ", ["é", "ключ"]),
            (#"a."line\nbreak""#, ["a", "line\nbreak"]), (#"a."b c""#, ["a", "b c"]), ("a-b._$", ["a-b", "_$"]),
        ])
    func printing(text: String, segments: [String]) throws {
        #expect(try ConfigurationPath(text).segments == segments)
        #expect(ConfigurationPath(segments).description == text)
    }

    @Test("single quotes and escapes are supported, too")
    func singleQuotes() throws {
        #expect(try ConfigurationPath(#"domains.'x.custom'"#).segments == ["domains", "x.custom"])
        #expect(try ConfigurationPath(#"'\x41.'.b"#).segments == ["A.", "b"])
    }

    @Test(
        "a path that is not well formed is refused",
        arguments: ["", ".", "a.", ".a", "a..b", "a b", #"a."b"#, #"a."b"c"#, #"a"b""#, "a=b", #""\q""#, "a\n.b"])
    func refused(text: String) {
        #expect(throws: StorageError.invalidConfiguration) { try ConfigurationPath(text) }
    }

    @Test("every sequence of segments survives printing and parsing", arguments: 0..<4)
    func roundTrip(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let pieces = [
            "a", ".", "=", "\"", "'", "\\", " ", "\n", "é", "e\u{301}", "\u{301}", "0", "😀", "\u{2028}",
        ]
        for _ in 0..<300 {
            let segments = (0..<Int.random(in: 1..<5, using: &random)).map { _ in
                (0..<Int.random(in: 0..<4, using: &random)).map { _ in random.piece(of: pieces) }.joined()
            }
            let text = ConfigurationPath(segments).description
            #expect(try ConfigurationPath(text).segments == segments, "\(text.debugDescription)")
        }
    }
}

@Suite("ConfigurationLayer of a flag")
struct ConfigurationFlagTests {
    @Test(
        "a value is JSON5 if it parses, and a plain string if not",
        arguments: [
            ("domains.userDefaults=memory", ["domains", "userDefaults"], JSONValue.string("memory")),
            ("plugins.timeout=2.5", ["plugins", "timeout"], .double(2.5)),
            ("plugins.path=['/a',]", ["plugins", "path"], .array([.string("/a")])),
            ("stores.c={component:'m'}", ["stores", "c", "component"], .string("m")),
            (#"domains."x.custom"=cache"#, ["domains", "x.custom"], .string("cache")),
            ("stores.c.sealing=null", ["stores", "c", "sealing"], .null),
            ("keychain.service=", ["keychain", "service"], .string("")),
            ("keychain.service=a=b", ["keychain", "service"], .string("a=b")),
            ("keychain.service='a'", ["keychain", "service"], .string("a")),
            ("app.version=1.10", ["app", "version"], .string("1.10")),
            ("keychain.service=true", ["keychain", "service"], .string("true")),
            ("unknown=true", ["unknown"], .bool(true)),
        ])
    func values(text: String, path: [String], expected: JSONValue) throws {
        let layer = try ConfigurationLayer(assignment: text)
        #expect(layer.value[path] == expected)
        #expect(layer.name == .flag)
        #expect("\(layer.origin(of: path))" == "flag -c \(text)")
    }

    @Test("a flag without a key or an equals sign is refused", arguments: ["", "a", "=1", "a.=1", #""a=1"#, "a b=1"])
    func refused(text: String) {
        #expect(throws: StorageError.invalidConfiguration) { try ConfigurationLayer(assignment: text) }
    }
}

import JSON
import Testing

@Suite("Lossless JSON") struct JSONTests {
    private func parse(_ text: String) throws -> JSON { try parse(Array(text.utf8)) }

    private func parse(_ bytes: [UInt8]) throws -> JSON {
        guard let value = try JSON.read(bytes, deepest: 256) else { throw JSONFault(.value, at: bytes.count) }
        return value
    }

    private func written(_ text: String) throws -> String { String(decoding: try parse(text).text, as: UTF8.self) }

    @Test(
        "a text that is read and written again is the same",
        arguments: [
            #"{"z":1.10,"a":123456789012345678901234567890,"n":-0.0,"e":1E+400,"s":"ä\"\\\n\u0001/"}"#, "[]", "{}",
            "null",
            #""""#, "[[],{},[null,true,false]]", #"{"":{"":""}}"#, "0", "-0", "1e5",
        ])
    func roundTrip(_ text: String) throws { #expect(try written(text) == text) }

    @Test("escapes are read, and written where JSON needs them")
    func escapes() throws {
        #expect(try parse(#""\u00e4\ud83d\ude00\/\b""#) == .string("ä😀/\u{8}"))
        #expect(try written(#""\u00e4\/\b\u001f\u0022""#) == #""ä/\u0008\u001f\"""#)
        #expect(try written(" [ 1 ,\n\t2 ]\r\n") == "[1,2]")
    }

    @Test("two spellings of one character are two names")
    func bytes() throws {
        let text = "{\"\u{e9}\":1,\"e\u{301}\":2}"
        #expect(try written(text) == text)
        #expect(try parse("\"\u{e9}\"") != parse("\"e\u{301}\""))
    }

    @Test(
        "text that is not JSON is refused",
        arguments: [
            "", " ", "{", "}", "[1,]", "{\"a\":1,}", "[1 2]", "01", "1.", ".5", "+1", "-", "1e", "NaN", "Infinity",
            "'a'",
            "\"a", "\"\u{1}\"", "\"\\x\"", "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\ude00\\ud83d\"", "// c\n1",
            "tru", "nulll", "1 1", "{a:1}", "{\"a\" 1}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "\u{feff}1",
        ])
    func refused(_ text: String) { #expect(throws: JSONFault.self) { try parse(text) } }

    @Test("bytes that are not UTF-8, and nesting without end, are refused")
    func hostile() throws {
        #expect(throws: JSONFault.self) { try parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONFault.self) { try parse(Array(repeating: UInt8(ascii: "["), count: 1_000_000)) }
        let deepest = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
        #expect(try written(deepest) == deepest)
        #expect(throws: JSONFault.self) { try parse("[\(deepest)]") }
    }

    @Test(
        "a number keeps its value as floating point, or is known to lose it",
        arguments: [
            ("1.10", 1.1), ("1e3", 1000), ("0.1", 0.1), ("-0.0", 0), ("100", 100), ("1E400", nil), ("1e-400", nil),
            ("12345678901234567890123", nil), ("0.1000000000000000055511151231257827", nil), ("9007199254740993", nil),
            ("1e99999999999999999999", nil),
        ] as [(String, Double?)])
    func decimals(_ text: String, _ value: Double?) { #expect(DecimalNumber.exactDouble(text) == value) }
}

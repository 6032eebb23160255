import JSON
import Testing

/// A corpus of texts at the borders of RFC 8259: what is JSON, and where exactly the rest is none.
@Suite("The borders of JSON") struct JSONCorpusTests {
    /// A text that is refused, why, and at which byte.
    struct Refusal: CustomTestStringConvertible, Sendable {
        let bytes: [UInt8]
        let reason: JSONFault.Reason
        let offset: Int

        init(_ text: String, _ reason: JSONFault.Reason, _ offset: Int) {
            self.init(Array(text.utf8), reason, offset)
        }

        init(_ bytes: [UInt8], _ reason: JSONFault.Reason, _ offset: Int) {
            (self.bytes, self.reason, self.offset) = (bytes, reason, offset)
        }

        var testDescription: String { String(decoding: bytes, as: UTF8.self).debugDescription }
    }

    private static let structure: [Refusal] = [
        Refusal("{", .name, 1), Refusal("[", .value, 1), Refusal("}", .value, 0), Refusal("]", .value, 0),
        Refusal("[1", .elementEnd, 2), Refusal("{\"a\":1", .memberEnd, 6), Refusal("{\"a\"", .colon, 4),
        Refusal("{\"a\":", .value, 5), Refusal("{\"a\" 1}", .colon, 5), Refusal("{\"a\":}", .value, 5),
        Refusal("[1,]", .value, 3), Refusal("[,1]", .value, 1), Refusal("[1,,2]", .value, 3),
        Refusal("[1 2]", .elementEnd, 3), Refusal("{\"a\":1,}", .name, 7), Refusal("{,}", .name, 1),
        Refusal("{\"a\":1 \"b\":2}", .memberEnd, 7), Refusal("{a:1}", .name, 1), Refusal("{'a':1}", .name, 1),
        Refusal("{1:1}", .name, 1), Refusal("{null:1}", .name, 1), Refusal("{\"a\"::1}", .value, 5),
        Refusal("[1}", .elementEnd, 2), Refusal("{\"a\":1]", .memberEnd, 6), Refusal("[[1]", .elementEnd, 4),
        Refusal("1 1", .end, 2), Refusal("[]]", .end, 2), Refusal("{}}", .end, 2), Refusal("null,", .end, 4),
        Refusal("[]//", .end, 2), Refusal("/* */1", .value, 0), Refusal("#1", .value, 0), Refusal(":", .value, 0),
        Refusal(",", .value, 0), Refusal("*", .value, 0), Refusal("<null>", .value, 0),
    ]

    private static let words: [Refusal] = [
        Refusal("tru", .value, 0), Refusal("True", .value, 0), Refusal("TRUE", .value, 0), Refusal("nul", .value, 0),
        Refusal("nulll", .end, 4), Refusal("falsee", .end, 5), Refusal("truefalse", .end, 4),
        Refusal("undefined", .value, 0), Refusal("[nan]", .value, 1), Refusal("NaN", .value, 0),
        Refusal("Infinity", .value, 0), Refusal("-Infinity", .digit, 1), Refusal("[-NaN]", .digit, 2),
    ]

    private static let numbers: [Refusal] = [
        Refusal("01", .end, 1), Refusal("-01", .end, 2), Refusal("00", .end, 1), Refusal("[012]", .elementEnd, 2),
        Refusal("-", .digit, 1), Refusal("--1", .digit, 1), Refusal("+1", .value, 0), Refusal("- 1", .digit, 1),
        Refusal(".5", .value, 0), Refusal("-.5", .digit, 1), Refusal("1.", .digit, 2), Refusal("1.e3", .digit, 2),
        Refusal("1e", .digit, 2), Refusal("1e+", .digit, 3), Refusal("1e-", .digit, 3), Refusal("1E", .digit, 2),
        Refusal("1e1.5", .end, 3), Refusal("1.2.3", .end, 3), Refusal("1e2e3", .end, 3), Refusal("1_000", .end, 1),
        Refusal("1,000", .end, 1), Refusal("0x1F", .end, 1), Refusal("0b1", .end, 1), Refusal("1a", .end, 1),
        Refusal("[1e400,01]", .elementEnd, 8), Refusal("\u{FF11}", .value, 0), Refusal("\u{661}", .value, 0),
    ]

    private static let strings: [Refusal] = [
        Refusal("\"", .stringEnd, 1), Refusal("\"a", .stringEnd, 2), Refusal("\"\\\"", .stringEnd, 3),
        Refusal("\"a\\", .stringEnd, 3), Refusal("'a'", .value, 0), Refusal("`a`", .value, 0),
        Refusal("\"\\x41\"", .escape, 1), Refusal("\"\\a\"", .escape, 1), Refusal("\"\\U0041\"", .escape, 1),
        Refusal("\"\\'\"", .escape, 1), Refusal("\"\\0\"", .escape, 1), Refusal("\"\\\n\"", .escape, 1),
        Refusal("\"\\u\"", .fourDigits, 3), Refusal("\"\\u12\"", .fourDigits, 3),
        Refusal("\"\\u123g\"", .fourDigits, 3), Refusal("\"\\u+123\"", .fourDigits, 3),
        Refusal("\"\\u 123\"", .fourDigits, 3),
        Refusal("\"\u{1}\"", .noControl, 1), Refusal("\"\t\"", .noControl, 1), Refusal("\"a\nb\"", .noControl, 2),
        Refusal("\"a\r\nb\"", .noControl, 2), Refusal("\"\u{1F}\"", .noControl, 1), Refusal("\"\0\"", .noControl, 1),
    ]

    /// Escapes of half a character, wherever they stand.
    private static let surrogates: [Refusal] = [
        Refusal("\"\\ud800\"", .character, 1), Refusal("\"\\udfff\"", .character, 1),
        Refusal("\"ab\\uD834\"", .character, 3), Refusal("\"\\ude00\\ud83d\"", .character, 1),
        Refusal("\"\\ud800\\ud800\"", .character, 1), Refusal("\"\\ud800\\u0041\"", .character, 1),
        Refusal("\"\\ud800\\n\"", .character, 1), Refusal("\"\\ud83d\\u12\"", .fourDigits, 9),
        Refusal("{\"\\udc00\":1}", .character, 2),
    ]

    private static let encodings: [Refusal] = [
        // An ended sequence, an overlong one, half a character, one beyond all, a byte that no text has.
        Refusal([0x22, 0xE2, 0x82, 0x22], .encoding, 0), Refusal([0x22, 0xC0, 0xAF, 0x22], .encoding, 0),
        Refusal([0x22, 0xED, 0xA0, 0x80, 0x22], .encoding, 0),
        Refusal([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .encoding, 0),
        Refusal([0x5B, 0x22, 0xFF, 0x22, 0x5D], .encoding, 1), Refusal([0x22, 0x80, 0x22], .encoding, 0),
        Refusal([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .encoding, 1), Refusal([0xFF], .value, 0),
        // Byte order marks, UTF-16, and spaces that only other languages have.
        Refusal("\u{FEFF}1", .value, 0), Refusal("[1]\u{FEFF}", .end, 3), Refusal([0xFF, 0xFE, 0x31, 0], .value, 0),
        Refusal([0, 0x31], .value, 0), Refusal([0x31, 0], .end, 1), Refusal("\u{A0}1", .value, 0),
        Refusal("[1,\u{2028}2]", .value, 3), Refusal("\u{B}1", .value, 0), Refusal("\u{C}1", .value, 0),
        // NULs around and between values.
        Refusal("\0", .value, 0), Refusal("1\0", .end, 1), Refusal("[\0]", .value, 1), Refusal("{\0}", .name, 1),
        Refusal("[1\0]", .elementEnd, 2), Refusal("{\"a\"\0:1}", .colon, 4),
    ]

    private static let names: [Refusal] = [
        Refusal("{\"a\":1,\"a\":1}", .newName, 7), Refusal("{\"\":1,\"\":2}", .newName, 6),
        Refusal("{\"a\":1,\"b\":2,\"\\u0061\":3}", .newName, 13), Refusal("[{\"a\":{\"b\":1,\"b\":2}}]", .newName, 13),
        Refusal("{\"\\ud83d\\ude00\":1,\"\u{1F600}\":1}", .newName, 18),
    ]

    @Test(
        "what is no JSON is refused at the byte where it is none",
        arguments: structure + words + numbers + strings + surrogates + encodings + names)
    func refused(_ refusal: Refusal) throws {
        var found: JSONFault?
        do throws(JSONFault) { _ = try JSON.read(refusal.bytes, deepest: 8) } catch { found = error }
        #expect(found?.reason == refusal.reason && found?.offset == refusal.offset, "\(String(describing: found))")
    }

    @Test("a text without a value is none", arguments: ["", " ", "\r\n\t "])
    func empty(_ text: String) throws { #expect(try JSON.read(Array(text.utf8), deepest: 8) == nil) }

    @Test(
        "what is JSON is read, and written again as it was",
        arguments: [
            "0", "-0", "-0.0", "0e0", "0E+00", "1e400", "-1e-400", "1E9999999999999999999",
            "123456789012345678901234567890",
            "0.1000000000000000055511151231257827021181583404541015625", "-9223372036854775809", "18446744073709551616",
            "true", "false", "null", #""""#, #""\"\\""#, #""/""#, "[]", "{}", "[[[[[[[[]]]]]]]]",
            #"{"":{"":[{"":0}]}}"#,
            "\"\u{7F}\u{80}\u{FEFF}\u{FFFE}\u{FFFF}\u{2028}\u{10FFFF}\"", "{\"\u{E9}\":1,\"e\u{301}\":2}",
            #"{"a":1,"A":2,"a ":3," a":4}"#, #"{"__proto__":1,"constructor":2}"#, #"["e\u0000"]"#, #"{"\u0000":0}"#,
        ])
    func read(_ text: String) throws {
        let value = try #require(try JSON.read(Array(text.utf8), deepest: 8))
        #expect(value.text.elementsEqual(text.utf8), "\(String(decoding: value.text, as: UTF8.self))")
        #expect(value.range == 0..<text.utf8.count)
    }

    @Test(
        "what is written otherwise is the same value",
        arguments: [
            (#""\u0041\u00e9\u20ac\ud83d\ude00""#, "\"A\u{E9}\u{20AC}\u{1F600}\""),
            (#""\/\b\f\r""#, #""/\u0008\u000c\r""#),
            (#""\uFFFF\ue000""#, "\"\u{FFFF}\u{E000}\""), (" \r\n\t[ \r\n\t1 \r\n\t, 2 ] \r\n\t", "[1,2]"),
            ("{ \"a\" :\n1 }", #"{"a":1}"#),
        ] as [(String, String)])
    func normalized(_ text: String, _ expected: String) throws {
        let value = try #require(try JSON.read(Array(text.utf8), deepest: 8))
        #expect(value.text.elementsEqual(expected.utf8), "\(String(decoding: value.text, as: UTF8.self))")
    }

    @Test(
        "nesting is refused at the bracket that is too deep, however many follow",
        arguments: ["[", "{\"a\":", "[{\"a\":"])
    func depth(_ opening: String) throws {
        let bytes = Array(String(repeating: opening, count: 100_000).utf8)
        let fault = #expect(throws: JSONFault.self) { try JSON.read(bytes, deepest: 512) }
        let brackets = bytes.indices.filter { [UInt8(ascii: "["), UInt8(ascii: "{")].contains(bytes[$0]) }
        #expect(fault?.reason == .depth && fault?.offset == brackets[512])
    }

    @Test("line and column of a fault are counted from 1, in bytes")
    func places() {
        let bytes = Array("[\n\"\u{E9}\", x\n]".utf8)
        var found: JSONFault?
        do throws(JSONFault) { _ = try JSON.read(bytes, deepest: 8) } catch { found = error }
        #expect(found.map { JSONFault.place(of: $0.offset, in: bytes) }.map { [$0.line, $0.column] } == [2, 7])
    }
}

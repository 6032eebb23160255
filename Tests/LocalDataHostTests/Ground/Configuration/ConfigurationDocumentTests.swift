import LocalDataAPI
import LocalDataHost
import Testing

@Suite("ConfigurationDocument: reading")
struct ConfigurationDocumentTests {
    private func document(_ text: String) throws -> ConfigurationDocument {
        try ConfigurationDocument(text: text, source: "c.json")
    }

    private func refusal(_ text: String) -> String? {
        do {
            _ = try document(text)
            return nil
        } catch {
            #expect(StorageError.invalidConfiguration ~= error)
            return "\(error)"
        }
    }

    @Test("a text without a value is the empty object", arguments: ["", " \n", "// c", "/* c */\r\n", "\u{FEFF}"])
    func noValue(text: String) throws {
        let document = try document(text)
        #expect(document.value == .object([:]))
        #expect(document.text == text)
        #expect(document.place(of: ["a"]) == nil)
    }

    @Test("the whole of JSON5 is read, with the places of keys and values")
    func wholeSyntax() throws {
        let document = try document(
            "\u{FEFF}// head\r\n{\r\n  plain: 'single \"', \"quoted\\nkey\": [1, 0x10, .5, +2.,],\r\n"
                + "  ключ: { $a_1: null, /* é */ b: true, },\r\n}\r\n")
        #expect(
            document.value
                == .object([
                    "plain": .string("single \""),
                    "quoted\nkey": .array([.integer(1), .integer(16), .double(0.5), .integer(2)]),
                    "ключ": .object(["$a_1": .null, "b": .bool(true)]),
                ]))
        #expect(try #require(document.place(of: ["plain"])) == (3, 3))
        #expect(try #require(document.place(of: ["quoted\nkey"])) == (3, 22))
        #expect(try #require(document.place(of: ["quoted\nkey", "3"])) == (3, 51))
        #expect(try #require(document.valuePlace(of: ["ключ"])) == (4, 9))
        #expect(try #require(document.place(of: ["ключ", "b"])) == (4, 31))
        #expect(try #require(document.valuePlace(of: [])) == (2, 1))
        for absent in [["x"], ["plain", "x"], ["quoted\nkey", "4"], ["quoted\nkey", "01"], ["quoted\nkey", "-1"]] {
            #expect(document.place(of: absent) == nil)
        }
    }

    @Test("ranges cover the key and the value in the text")
    func ranges() throws {
        let text = "{ 'a' : { b: [ 1, 22 ] } }"
        let ranges = try #require(try document(text).ranges(of: ["a"]))
        let bytes = Array(text.utf8)
        #expect(String(decoding: bytes[ranges.key], as: UTF8.self) == "'a'")
        #expect(String(decoding: bytes[ranges.value], as: UTF8.self) == "{ b: [ 1, 22 ] }")
    }

    @Test("the first byte of a text counts as column one, with a byte order mark before it too")
    func firstColumn() throws {
        #expect(try #require(try document("{a:1}").place(of: ["a"])) == (1, 2))
        #expect(try #require(try document("\u{FEFF}{a:1}").place(of: ["a"])) == (1, 2))
        #expect(try #require(try document("\r\r\n\n{a:1}").place(of: ["a"])) == (4, 2))
    }

    @Test(
        "a syntax error names the place and what was expected",
        arguments: [
            ("{a:1", "c.json:1:5: expected ',' or '}', found the end of the text"),
            ("{\n  a: 1\n  b: 2\n}", "c.json:3:3: expected ',' or '}', found 'b'"),
            ("{a 1}", "c.json:1:4: expected ':' after the key, found '1'"),
            ("{a: memory}", "c.json:1:5: expected a value, found 'm' (a text needs quotes)"),
            ("{a:}", "c.json:1:4: expected a value, found '}'"),
            ("{,}", "c.json:1:2: expected a key or '}', found ','"),
            ("{1a: 1}", "c.json:1:2: expected a key or '}', found '1' (a key that is not a plain word needs quotes)"),
            ("{x.custom: 1}", "c.json:1:3: expected ':' after the key, found '.'"),
            ("{a: [1 2]}", "c.json:1:8: expected ',' or ']', found '2'"),
            ("{} {}", "c.json:1:4: expected the end of the text, found '{'"),
            ("[1]", "c.json:1:1: expected an object in braces"),
            ("\"{}\"", "c.json:1:1: expected an object in braces"),
            ("{a: 'x\n'}", "c.json:1:5: expected the closing quote of this string on its line"),
            ("{a: 'x\\\n'}", "c.json:1:8: expected one of \" ' \\ / b f n r t x u after the backslash"),
            ("{a: \"x", "c.json:1:5: expected the closing quote of this string, found the end of the text"),
            ("{a: 'x\t'}", "c.json:1:7: expected no control character in a string, found the control character 9"),
            ("{a: '\\xg0'}", "c.json:1:8: expected 2 hexadecimal digits, found 'g'"),
            ("{\na: 1 /* x\n", "c.json:2:6: expected '*/' at the end of this comment, found none"),
            ("{a: 01}", "c.json:1:5: expected a number without leading zeros"),
            ("{a: 1.2.3}", "c.json:1:8: expected the end of the number, found '.'"),
            ("{a: 1e}", "c.json:1:7: expected a digit of the exponent, found '}'"),
            ("{a: NaN}", "c.json:1:5: expected a finite number"),
            ("{a: -Infinity}", "c.json:1:6: expected a finite number"),
            ("{a: 0, b: 1e999}", "c.json:1:11: expected a value that the JSON5 decoder can represent"),
            ("{a: [[], '\\uD800']}", "c.json:1:10: expected a value that the JSON5 decoder can represent"),
            ("{a: '\\u0000'}", "c.json:1:5: expected a value that the JSON5 decoder can represent"),
            ("{'\\uD800': 1}", "c.json:1:2: expected a key that is valid Unicode"),
            ("{\u{0}}", "c.json:1:2: expected a key or '}', found the control character 0"),
            ("{é: 1, 'e\u{301}': 2}", "c.json:1:8: the key 'e\u{301}' is given twice"),
            ("{\n a: {\n  b: 1,\n  c: 2,\n  'b': 3\n } }", "is given twice, first on line 3 and again on line 5"),
        ])
    func syntaxErrors(text: String, expected: String) throws {
        let message = try #require(refusal(text), "accepted \(text)")
        #expect(message.contains(expected), "\(message)")
    }

    @Test("nesting is accepted up to 64 levels and refused beyond", arguments: ["[", "{a:"])
    func depth(open: String) {
        let close = open == "[" ? "]" : "}"
        func nested(_ levels: Int) -> String {
            "{x:" + String(repeating: open, count: levels - 2) + (open == "[" ? "[]" : "{}")
                + String(repeating: close, count: levels - 2) + "}"
        }
        #expect(refusal(nested(64)) == nil)
        #expect(refusal(nested(65))?.contains("expected at most 64 nested values") == true)
        #expect(refusal("{x:" + String(repeating: open, count: 100_000))?.contains("at most 64") == true)
    }

    @Test("a text is accepted up to one mebibyte and refused beyond")
    func size() {
        let padding = String(repeating: " ", count: ConfigurationDocument.maximumSize - 2)
        #expect(refusal("{\(padding)}") == nil)
        #expect(refusal("{\(padding) }")?.contains("expected at most 1048576 bytes, found 1048577") == true)
    }

    @Test(
        "bytes that are not UTF-8 are refused with the line of the first of them",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0x80]])
    func invalidUTF8(bad: [UInt8]) {
        let error = #expect(throws: StorageError.self) {
            try ConfigurationDocument(bytes: Array("{\n a: '".utf8) + bad, source: "c.json")
        }
        #expect(error?.message.hasPrefix("c.json:2:") == true)
        #expect(error?.message.contains("expected UTF-8 text") == true)
    }

    @Test(
        "UTF-16 and binary files are refused",
        arguments: [[0xFF, 0xFE, 0x7B, 0, 0x7D, 0], [0x7B, 0, 0x7D, 0], [0x7F, 0x45]])
    func binary(bytes: [UInt8]) {
        #expect(throws: StorageError.invalidConfiguration) { try ConfigurationDocument(bytes: bytes, source: "c") }
    }

    @Test("an error never quotes more than one character of the text")
    func noSecrets() throws {
        for text in [
            "{a: hunter2}", "{a: 'hunter2}", "{a: 'x' hunter2}", "{a: 'hunter2\\uD800'}", "{a: 'hunter2' 'b'}",
        ] {
            #expect(try #require(refusal(text)).contains("hunter2") == false)
        }
    }
}

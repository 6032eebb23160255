import JSON
import Testing

extension ArraySlice: JSONBytes where Element == UInt8 {}

@Suite("JSON read piece by piece") struct JSONCursorTests {
    @Test("JSON5 keeps the place of every name, value and comma")
    func places() throws {
        let text = "\u{FEFF}/* {} */ { a : [ 0x1F , 'b\\x41' , ], \"c\" : null // ,\n }"
        let bytes = Array(text.utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        let json = try #require(try JSON.read(bytes, deepest: 2, isJSON5: true))
        guard case .object(let object) = json.content, case .array(let elements)? = object["a"]?.content else {
            Issue.record("\(json)")
            return
        }
        #expect(elements == [.number("0x1F"), .string("bA")])
        #expect(object.members.map { part($0.nameRange) } == ["a", "\"c\""])
        #expect(elements.map { part($0.range) } == ["0x1F", "'b\\x41'"])
        #expect(part(json.range).hasPrefix("{ a") && part(json.range).hasSuffix("\n }"))
        #expect(elements.allSatisfy { element in element.comma.map { bytes[$0] } == UInt8(ascii: ",") })
        #expect(object["a"]?.comma.map { part(0..<$0).hasSuffix("]") } == true && object["c"]?.comma == nil)
    }

    @Test("JSON5 is no JSON", arguments: ["// c\n1", "[1,]", "{a:1}", "'a'", "+1", ".5", "2.", "0x1", "\"\\x41\""])
    func grammars(_ text: String) throws {
        let bytes = Array(text.utf8)
        #expect(throws: JSONFault.self) { try JSON.read(bytes, deepest: 1) }
        #expect(try JSON.read(bytes, deepest: 1, isJSON5: true) != nil)
    }

    @Test("nesting has a limit in both ways to read", arguments: [1, 2, 100])
    func depth(_ deepest: Int) throws {
        let most = Array((String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest)).utf8)
        let more = Array("[".utf8) + most + Array("]".utf8)
        #expect(try JSON.read(most, deepest: deepest) != nil)
        #expect(throws: JSONFault.self) { try JSON.read(more, deepest: deepest) }
        var (first, second) = (JSONCursor(most), JSONCursor(more))
        try first.skipValue(deepest: deepest)
        let fault = #expect(throws: JSONFault.self) { try second.skipValue(deepest: deepest) }
        #expect(fault?.reason == .depth && fault?.offset == deepest)
    }

    @Test("skipping a value ends where reading it would, also in a part of the bytes", arguments: 0..<4)
    func agreement(_ seed: Int) throws {
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"a\"", "\"b\\u00e9\"", "\"\\ud800\"", "\"", "1", "-0.5e3", "01", "true",
            "nul", " ",
            "\n", "/", "{\"k\":", "[[]]", "{}",
        ]
        var random = SystemRandomNumberGenerator()
        var accepted = 0
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 1..<7, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            let bytes = Array(text.utf8)
            var reason: JSONFault.Reason?
            do throws(JSONFault) { _ = try JSON.read(bytes, deepest: 9) } catch { reason = error.reason }
            // Skipping does not check whether names differ.
            if reason == .newName { continue }
            var cursor = JSONCursor((Array("[,".utf8) + bytes)[2...], from: 2)
            var passed: JSONFault.Reason?
            do throws(JSONFault) {
                try cursor.skipSpace()
                if cursor.current != nil { try cursor.skipValue(deepest: 9) }
                try cursor.end()
            } catch { passed = error.reason }
            #expect(passed == reason, "\(text.debugDescription)")
            if passed == nil { accepted += 1 }
        }
        #expect(accepted > 100)
    }
}

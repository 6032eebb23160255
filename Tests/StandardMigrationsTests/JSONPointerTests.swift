import JSON
import Testing

@testable import MigrationManifest

@Suite("positions in JSON") struct JSONPointerTests {
    @Test("a fault has its line and column")
    func place() throws {
        let bytes = Array("{\n  \"a\": 1,\n  \"a\": 2\n}".utf8)
        let fault = try #require(throws: JSONFault.self) { try JSON.parse(bytes) }
        #expect(JSONFault.place(of: fault.offset, in: bytes) == (3, 3) && fault.message == "a member is given twice")
    }

    @Test(
        "pointers are read as RFC 6901 says",
        arguments: [
            ("", []), ("/", [""]), ("/a/b", ["a", "b"]), ("/a~1b/~0", ["a/b", "~"]), ("/~01", ["~1"]),
            ("/a//", ["a", "", ""]),
        ] as [(String, [String])])
    func pointers(_ text: String, _ tokens: [String]) throws {
        let pointer = try #require(JSONPointer(text))
        #expect(pointer.tokens == tokens && pointer.description == text)
    }

    @Test("invalid pointers are refused", arguments: ["a", "a/b", "/~", "/~2", "/a~"])
    func noPointers(_ text: String) { #expect(JSONPointer(text) == nil) }
}

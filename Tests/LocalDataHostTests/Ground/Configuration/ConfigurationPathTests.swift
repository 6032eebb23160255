import LocalDataAPI
import LocalDataHost
import TestSupport
import Testing

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

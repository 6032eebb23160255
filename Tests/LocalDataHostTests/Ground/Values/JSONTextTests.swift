import FoundationEssentials
import LocalDataHost
import Testing

@Suite("Strings in JSON without escapes")
struct JSONTextTests {
    private func decoded(_ json: [UInt8]) -> String? {
        try? JSONDecoder().decode([String].self, from: Data("[".utf8) + json + Data("]".utf8)).first
    }

    @Test("are read as the decoder reads them", arguments: ["", "a", "Dear diary", "Grüße", "\u{7f}", "e\u{301}", "👩‍🚀"])
    func same(_ text: String) {
        let json = Array("\"\(text)\"".utf8)
        #expect(JSONText.plain(Data(json))?.utf8.elementsEqual(text.utf8) == true)
        #expect(decoded(json) == text)
    }

    @Test(
        "are recognized exactly in these cases",
        arguments: [
            "", "\"", "a", "1", "null", "[\"a\"]", "\"a", "a\"", "\"a\\n\"", "\"\\u0061\"", "\"a\"b\"", "\"\n\"",
            " \"a\"",
        ])
    func none(_ json: String) { #expect(JSONText.plain(Data(json.utf8)) == nil) }

    @Test("are never texts that the decoder refuses or reads differently: 20,000 random texts")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let bytes: [UInt8] =
            Array("\"\\a 1{}[],:u/".utf8) + [0, 9, 10, 0x1F, 0x20, 0x7F, 0x80, 0xC3, 0xA4, 0xED, 0xA0, 0xFF]
        for _ in 0..<20_000 {
            let middle = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                bytes.randomElement(using: &generator) ?? 0
            }
            let json = [UInt8(ascii: "\"")] + middle + [UInt8(ascii: "\"")]
            guard let text = JSONText.plain(Data(json)) else { continue }
            #expect(decoded(json) == text, "\(json)")
        }
    }
}

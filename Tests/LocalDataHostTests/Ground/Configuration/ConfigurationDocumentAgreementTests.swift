import FoundationEssentials
import LocalDataHost
import TestSupport
import Testing

@Suite("ConfigurationDocument and the decoder")
struct ConfigurationDocumentAgreementTests {
    /// Pieces that are likely to hit the limits of the grammar.
    private static let pieces = [
        "{", "}", "[", "]", ":", ",", "a", "'a'", "\"b\"", "1", "-0x1F", ".5", "1e5", "0", "true", "null", "\\u0041",
        "'\\",
        "\n", "\r", " ", "\u{B}", "\u{C}", "\u{A0}", "\u{2028}", "//", "/*", "*/", "/", "$", "é", "\u{301}", "\u{200C}",
        "😀",
        "\u{0}", "\t", "\u{7F}", "NaN", "Infinity", "+", "-", "'\\x41'", "'\\v'", "'\\0'", "'\\u0000'",
        "18446744073709551616",
    ]

    @Test("the decoder accepts everything that the scanner accepts, with the same value", arguments: 0..<8)
    func agreement(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        var accepted = 0
        var missed: [String: String] = [:]
        for _ in 0..<4000 {
            var value = random.piece(of: Self.pieces)
            for _ in 0..<Int.random(in: 0..<4, using: &random) { value += random.piece(of: Self.pieces) }
            let text = Bool.random(using: &random) ? "{k:\(value)}" : "{\(value):1,\(random.piece(of: Self.pieces))}"
            let decoded = try? decoder.decode(JSONValue.self, from: Data(text.utf8))
            do {
                let document = try ConfigurationDocument(text: text, source: "c")
                accepted += 1
                #expect(document.value == decoded, "\(text.debugDescription)")
            } catch {
                if decoded != nil { missed[text] = "\(error)" }
            }
        }
        #expect(accepted > 100)
        // The decoder accepts more than a configuration: the documented differences, and nothing else.
        let documented = ["finite number", "given twice", "after the backslash", "control character 0", "found '\\'"]
        for (text, error) in missed {
            #expect(documented.contains { error.contains($0) }, "\(text.debugDescription): \(error)")
        }
    }
}

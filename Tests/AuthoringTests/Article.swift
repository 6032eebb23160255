/// The code samples of an article.
enum Article {
    /// The code blocks of a language, each with a line end after its last line.
    static func blocks(of language: String, in text: some StringProtocol) -> [String] {
        String(text).split(separator: "\n```\(language)\n").dropFirst().compactMap { rest in
            rest.firstRange(of: "\n```").map { String(rest[..<$0.lowerBound]) + "\n" }
        }
    }
}

import FoundationEssentials
import TestSupport

/// The README or an article, with its samples.
struct Document {
    let path: String
    let text: String

    init(_ path: String) throws {
        self.path = path
        text = try Repository.text(path)
    }

    /// The README and the articles of all catalogs.
    static let paths: [String] =
        ["README.md"]
        + Repository.files(below: "Sources") { $0.contains(".docc/") }.filter {
            $0.hasSuffix(".md")
        }

    /// The code blocks of a language.
    func blocks(of language: String) -> [String] {
        text.split(separator: "```\(language)\n").dropFirst()
            .compactMap { $0.split(separator: "```", maxSplits: 1).first.map(String.init) }
    }

    /// The rows of its tables.
    var rows: [Substring] { text.split(separator: "\n").filter { $0.hasPrefix("| ") } }
}

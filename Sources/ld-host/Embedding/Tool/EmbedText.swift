import Foundation

/// Writes a Swift file with texts: `embed-text OUTPUT (NAME FILE)...`.
@main enum EmbedText {
    struct UsageError: Error, CustomStringConvertible {
        let description = "usage: embed-text OUTPUT (NAME FILE)..."
    }

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count % 2 == 1 else { throw UsageError() }
        var source = """
            /// Files of this project that new plugins get a copy of, word for word.
            enum EmbeddedText {

            """
        for index in stride(from: 1, to: arguments.count, by: 2) {
            let text = try String(contentsOfFile: arguments[index + 1], encoding: .utf8)
            // More than the text has in a row anywhere.
            var marks = "#"
            while text.contains("\"\"\"\(marks)") || text.contains("\\\(marks)") { marks += "#" }
            source += "    static let \(arguments[index]) = \(marks)\"\"\"\n\(text)\n\"\"\"\(marks)\n"
        }
        try (source + "}\n").write(toFile: arguments[0], atomically: true, encoding: .utf8)
    }
}

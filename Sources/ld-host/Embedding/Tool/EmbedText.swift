import Foundation

/// Writes a Swift file with texts: `embed-text OUTPUT FOLDER PATH...`. Each path is relative to the folder.
@main enum EmbedText {
    struct UsageError: Error, CustomStringConvertible {
        let description = "usage: embed-text OUTPUT FOLDER PATH..."
    }

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3 else { throw UsageError() }
        var source = """
            /// Files of this project that new plugins get a copy of, word for word.
            enum EmbeddedText {
                /// By their paths in the project.
                static let files: [String: String] = [

            """
        for path in arguments.dropFirst(2) {
            let text = try String(contentsOf: URL(filePath: arguments[1]).appending(path: path), encoding: .utf8)
            // More than the text has in a row anywhere.
            var marks = "#"
            while text.contains("\"\"\"\(marks)") || text.contains("\\\(marks)") { marks += "#" }
            source += "\"\(path)\": \(marks)\"\"\"\n\(text)\n\"\"\"\(marks),\n"
        }
        try (source + "    ]\n}\n").write(toFile: arguments[0], atomically: true, encoding: .utf8)
    }
}

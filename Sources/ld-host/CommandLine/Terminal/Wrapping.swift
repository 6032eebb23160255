internal import Glibc
internal import LocalDataHost

/// Text in lines of a width that people can read: nothing is torn within a word.
enum Wrapping {
    /// The usual width, for text that is read wherever it goes.
    static let usual = 80

    /// The lines of a text. A word that is wider than a line has one of its own.
    ///
    /// - Parameter indent: How far every line but the first is indented.
    static func lines(_ text: String, width: Int, indent: Int = 0) -> [String] {
        // Spaces are kept: they may belong to a name.
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        var (lines, line): ([String], String) = ([], String(words[0]))
        for word in words.dropFirst() {
            if line.count + 1 + word.count > width, line.contains(where: { $0 != " " }) {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += " \(word)"
            }
        }
        return lines + [line]
    }

    /// The width of the terminal that a descriptor is; `nil` if it is none, so that other programs find each message on
    /// one line. `COLUMNS` counts more than what the terminal says.
    static func width(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        if let chosen { return chosen }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= narrowest else { return usual }
        return Int(size.ws_col)
    }

    /// The width of help: it is read by people even if it goes through a pager.
    static var help: Int { chosen ?? width(of: StandardOutput.results) ?? usual }

    private static let narrowest = 20

    private static var chosen: Int? {
        getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 >= narrowest ? $0 : nil }
    }
}

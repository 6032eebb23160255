internal import Glibc

/// Columns of text, each as wide as its widest cell.
struct Table {
    private var rows: [[String]] = []
    private var widths: [Int] = []

    /// How many rows are not printed yet.
    var count: Int { rows.count }

    mutating func add(_ cells: String...) { rows.append(cells.map { "\(Printable($0))" }) }

    /// Prints the rows that are not printed yet. Columns do not become narrower.
    ///
    /// - Parameter width: What lines should not exceed: the last column is wrapped between words, or has lines of its
    ///   own where there is no room beside the others. `nil` for a line for each row.
    mutating func print(width: Int? = Wrapping.width(of: STDOUT_FILENO)) {
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        for var row in rows {
            while row.last?.isEmpty == true { row.removeLast() }
            var line = ""
            for (column, cell) in row.enumerated() {
                if column > 0, column == row.count - 1, let width, line.count + cell.count > width {
                    line = wrapped(cell, behind: line, width)
                } else {
                    line += cell
                }
                if column < row.count - 1 { line += String(repeating: " ", count: widths[column] - cell.count + 2) }
            }
            Output.line(line)
        }
        rows = []
    }

    private func wrapped(_ cell: String, behind line: String, _ width: Int) -> String {
        let (least, indent) = (24, 6)
        if width - line.count >= least, cell.split(separator: " ").allSatisfy({ $0.count <= width - line.count }) {
            let lines = Wrapping.lines(cell, width: width - line.count)
            return line + lines.joined(separator: "\n" + String(repeating: " ", count: line.count))
        }
        var start = line
        while start.last == " " { start.removeLast() }
        let lines = Wrapping.lines(cell, width: width - indent)
        return ([start] + lines.map { String(repeating: " ", count: indent) + $0 }).joined(separator: "\n")
    }
}

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
    static var help: Int { chosen ?? width(of: STDOUT_FILENO) ?? usual }

    private static let narrowest = 20

    private static var chosen: Int? {
        getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 >= narrowest ? $0 : nil }
    }
}

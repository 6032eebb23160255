internal import Glibc
internal import LocalDataHost

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
    mutating func print(width: Int? = Wrapping.width(of: StandardOutput.results)) {
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

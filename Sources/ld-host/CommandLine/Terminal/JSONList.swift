internal import FoundationEssentials
internal import LocalDataHost

/// A JSON array that is written element by element, as ``Output/json(_:)`` writes a whole one.
struct JSONList {
    private let indent: String
    private var isEmpty = true

    /// Begins the array.
    ///
    /// - Parameter indent: What stands before its end.
    init(indent: String = "") {
        self.indent = indent
        Output.write(Data("[".utf8))
    }

    mutating func add(_ element: some Encodable) throws {
        let text = String(decoding: try Output.encoded(element), as: UTF8.self)
        let lines = text.replacing("\n", with: "\n\(indent)  ")
        Output.write(Data("\(isEmpty ? "" : ",")\n\(indent)  \(lines)".utf8))
        isEmpty = false
    }

    /// Ends the array, and the line if it is all that is written.
    func end(line: Bool = true) {
        Output.write(Data("\(isEmpty ? "\n" : "")\n\(indent)]\(line ? "\n" : "")".utf8))
    }
}

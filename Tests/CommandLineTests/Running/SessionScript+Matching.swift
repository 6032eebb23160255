extension SessionScript.Pattern {
    /// Whether the lines of an output match the expected patterns exactly.
    ///
    /// - Throws: An error if a regular expression is invalid.
    static func match(_ text: String, _ patterns: [Self]) throws -> Bool {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        // A text that ends with a line end has an empty rest after it.
        let isFinished = lines.last?.isEmpty ?? true
        if isFinished { lines = lines.dropLast() }
        return try match(lines, patterns[...], isFinished)
    }

    private static func match(
        _ lines: ArraySlice<Substring>, _ patterns: ArraySlice<Self>, _ isFinished: Bool
    ) throws -> Bool {
        guard let pattern = patterns.first else { return lines.isEmpty }
        if pattern == .anyLines {
            for start in lines.startIndex...lines.endIndex
            where try match(lines[start...], patterns.dropFirst(), isFinished) { return true }
            return false
        }
        guard let line = lines.first else { return false }
        let isUnfinished = lines.count == 1 && !isFinished
        return try pattern.matches(line, isUnfinished) && match(lines.dropFirst(), patterns.dropFirst(), isFinished)
    }

    private func matches(_ line: Substring, _ isUnfinished: Bool) throws -> Bool {
        switch self {
        // Compares bytes, as two spellings of one character are different texts.
        case .exactly(let text): !isUnfinished && text.utf8.elementsEqual(line.utf8)
        case .unfinished(let text): isUnfinished && text.utf8.elementsEqual(line.utf8)
        case .expression(let text): try !isUnfinished && Regex(text).wholeMatch(in: line) != nil
        case .anyLines: true
        }
    }
}

/// How many letters have to change to make one word of another, for suggestions.
package enum EditDistance {
    /// Insertions, deletions and replacements between two words (Levenshtein).
    package static func between(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let replaced = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }

    /// The word that is nearest, if it is near enough.
    package static func nearest(to word: String, among words: some Sequence<String>, within limit: Int) -> String? {
        guard word.unicodeScalars.count <= 64 else { return nil }
        return words.map { ($0, between(word.lowercased(), $0.lowercased())) }
            .filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
    }
}

/// The number of typing mistakes between two words.
package enum EditDistance {
    /// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (the restricted
    /// Damerau-Levenshtein distance). Cost: the product of the lengths.
    package static func between(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var older: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let change = previous[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(change, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, older[column - 1] + 1)
                }
                current.append(best)
            }
            (older, previous) = (previous, current)
        }
        return previous[right.count]
    }

    /// The candidate nearest to a word, if it is within a limit; the first of several.
    package static func nearest(to word: String, in candidates: [String], within limit: Int) -> String? {
        var best: (candidate: String, distance: Int)?
        for candidate in candidates where abs(candidate.count - word.count) <= limit {
            let distance = between(word, candidate)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }
}

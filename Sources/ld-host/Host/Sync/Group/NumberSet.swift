internal import LocalDataAPI

/// A set of small numbers, one bit each.
struct NumberSet: Sendable {
    private var words: [UInt64] = []

    func contains(_ number: Int) -> Bool {
        number >> 6 < words.count && words[number >> 6] & (1 << UInt64(number & 63)) != 0
    }

    mutating func insert(_ number: Int) {
        while words.count <= number >> 6 { words.append(0) }
        words[number >> 6] |= 1 << UInt64(number & 63)
    }

    mutating func formUnion(_ other: NumberSet) {
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    func union(_ other: NumberSet) -> NumberSet {
        var union = self
        union.formUnion(other)
        return union
    }

    func isSubset(of other: NumberSet) -> Bool {
        words.indices.allSatisfy { index in
            words[index] & ~(index < other.words.count ? other.words[index] : 0) == 0
        }
    }

    /// Passes each number to `combine`, ascending.
    func reduce<Result>(into start: Result, _ combine: (inout Result, Int) -> Void) -> Result {
        var result = start
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                combine(&result, index << 6 | rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
        return result
    }

    func contains(where isWanted: (Int) -> Bool) -> Bool {
        reduce(into: false) { if !$0 { $0 = isWanted($1) } }
    }
}

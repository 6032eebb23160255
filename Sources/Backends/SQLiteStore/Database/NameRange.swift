/// Names that start with a prefix and come after one, by their bytes.
struct NameRange {
    /// Only names greater than this.
    var after: [UInt8]
    /// Only names less than this.
    let end: [UInt8]

    init(prefix: String, after: String?) {
        let prefix = Array(prefix.utf8)
        end = Self.end(of: prefix)
        // The prefix itself is one of the names: what comes before it is the prefix without the last byte's step.
        let start = Self.before(prefix)
        let after = Array((after ?? "").utf8)
        self.after = start.lexicographicallyPrecedes(after) ? after : start
    }

    /// The least bytes that come after all that start with a prefix. No name has the byte 0xff.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else { return [0xff] }
        return prefix.dropLast() + [last + 1]
    }

    /// Bytes that come before the prefix and after all names that do: its last byte is one less, and is followed by
    /// what no name has.
    private static func before(_ prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else { return [] }
        return prefix.dropLast() + [last == 0 ? 0 : last - 1, 0xff]
    }
}

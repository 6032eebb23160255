/// Names that start with a prefix and sort after a name, by their bytes.
struct NameRange {
    /// Only names greater than this.
    var after: [UInt8]
    /// Only names less than this.
    let end: [UInt8]

    init(prefix: String, after: String?) {
        let prefix = Array(prefix.utf8)
        end = Self.end(of: prefix)
        // The prefix itself may be a name, so the lower bound must sort before it.
        let start = Self.before(prefix)
        let after = Array((after ?? "").utf8)
        self.after = start.lexicographicallyPrecedes(after) ? after : start
    }

    /// The smallest bytes that sort after all names with the prefix. No name contains the byte 0xff.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else { return [0xff] }
        return prefix.dropLast() + [last + 1]
    }

    /// Bytes that sort before the prefix and after all names that do: the last byte is decremented, and a byte that no
    /// name contains is appended.
    private static func before(_ prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.last else { return [] }
        return prefix.dropLast() + [last == 0 ? 0 : last - 1, 0xff]
    }
}

/// How large values are split: a value that does not fit into its row is kept in rows of another table. So it can be
/// read and written in pieces, and neither a listing nor the search for another value passes over it.
enum Piece {
    /// The size of every piece but the last, in bytes.
    static let size = 256 << 10

    /// The largest name and value, in bytes, that stay in the value's row. If a row does not fit into a quarter of a
    /// page, SQLite copies all of it whenever it is compared during a search. Up to this size that costs no more than
    /// the rest of the search, and less than two rows.
    private static let largestRow = 4096

    /// Whether a value stays in its row.
    @inline(__always)
    static func isInRow(_ nameCount: Int, _ count: Int) -> Bool { nameCount + count <= largestRow }
}

/// How large values are cut: what does not fit into a row is kept in rows of its own, so that it can be read and
/// written in pieces, and so that neither a listing nor the search for another value passes over it.
enum Piece {
    /// Bytes of a piece, but the last.
    static let size = 256 << 10

    /// The most bytes of a name and a value that stay in the value's row. Of a row that does not fit into a quarter of
    /// a page SQLite copies all of it whenever it is compared on the way to another; up to here that is no more than
    /// the rest of the search, and less than what two rows cost.
    private static let largestRow = 4096

    /// Whether a value stays in its row.
    @inline(__always)
    static func isInRow(_ nameCount: Int, _ count: Int) -> Bool { nameCount + count <= largestRow }
}

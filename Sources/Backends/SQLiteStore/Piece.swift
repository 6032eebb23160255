/// How large values are cut: a value above the size of a piece is kept in rows of its own, so that it can be read and
/// written in pieces, and so that a listing does not pass over it.
enum Piece {
    /// Bytes of a piece, but the last.
    static let size = 256 << 10
}

import LocalDataAPI

/// How large values are cut: a value above the size of a piece is kept in rows of its own, so that it can be read and
/// written in pieces, and so that a listing does not pass over it.
enum Piece {
    /// Bytes of a piece, but the last.
    static let size = 256 << 10
    /// Bytes of a value, which is what SQLite takes for one.
    static let largestValue = 1_000_000_000

    /// Refuses what is too large.
    static func check(_ count: Int) throws {
        guard count > largestValue else { return }
        throw StorageError(
            .valueTooLarge, "the value has \(count) bytes; a database takes at most \(largestValue)",
            hint: "map the domain to a store for large values")
    }
}

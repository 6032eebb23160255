internal import HostStores
internal import LocalDataAPI

/// One large value on its way: it is moved as it is and in pieces, never whole in memory. The record comes first and
/// says that the value may be at its destination; then the value is copied there, and takes its place as a whole; then
/// it is compared, and only then the source is removed. What it replaces is copied to an image before. Calls may wait.
struct LargeChunk: Sendable {
    let source: ResolvedKey
    let destination: ResolvedKey

    /// The value at the destination.
    var copy: SealedValue { destination.sealed }

    private var move: LargeMove { LargeMove(source: source.sealed, destination: copy) }

    /// Keeps what the destination has.
    func keep(in image: ResolvedKey) throws(StorageError) {
        try copy.copy(to: image.sealed, attributes: image.attributes)
    }

    /// Copies the value to its destination.
    ///
    /// - Parameters:
    ///   - isKept: Whether to keep a value that someone else writes there meanwhile.
    ///   - holds: Whether the attributes still are those of the source.
    /// - Throws: `busy` if there was one, or if they are not.
    func publish(
        _ attributes: ValueAttributes?, keeping isKept: Bool, if holds: () throws(StorageError) -> Bool
    ) throws(StorageError) {
        try move.copy(attributes: attributes, keeping: isKept, if: holds)
    }

    /// Removes the source if the destination has its bytes.
    ///
    /// - Returns: Whether the source is gone.
    func clean() throws(StorageError) -> Bool { try move.settle(in: source.open) }

    /// Copies the value back, unless the source has one.
    ///
    /// - Returns: Whether it reads back.
    func putBack() throws(StorageError) -> Bool {
        guard try !source.isStored() else { return true }
        let back = LargeMove(source: copy, destination: source.sealed)
        try back.copy(attributes: source.attributes, keeping: true)
        return try back.isInPlace()
    }

    /// Copies the value that was replaced back to the destination.
    ///
    /// - Parameter holds: Whether the destination is still as the migration left it.
    /// - Throws: `busy` if it is not.
    func restore(from image: ResolvedKey, if holds: () throws(StorageError) -> Bool) throws(StorageError) {
        let attributes = destination.keepsAttributes ? try image.readAttributes()?.kept : nil
        try LargeMove(source: image.sealed, destination: copy).copy(
            attributes: attributes, keeping: false, if: holds)
    }
}

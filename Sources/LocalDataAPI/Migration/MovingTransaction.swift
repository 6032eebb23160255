/// A transaction that can move a large value as it is, without its being in memory as a whole.
package protocol MovingTransaction: StorageProviding {
    /// Moves a value whose bytes stay as they are, if that is worth its while.
    ///
    /// - Returns: Whether it does; if not, nothing has been done.
    func move(_ source: AnyStorageKey, to destination: AnyStorageKey) async throws -> Bool
}

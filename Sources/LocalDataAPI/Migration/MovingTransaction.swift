/// A transaction that can move a large value unchanged, without loading it into memory.
package protocol MovingTransaction: StorageProviding {
    /// Moves a value whose bytes do not change, if it is large enough.
    ///
    /// - Returns: Whether it moves the value; if not, nothing has been done.
    func move(_ source: AnyStorageKey, to destination: AnyStorageKey) async throws -> Bool
}

/// A store that reads and changes many values in one call, as a migration of a whole place does. Ability
/// `localdata.store.bulk/1`.
public protocol BulkBackend: StorageBackend {
    /// What is known of a value that is handed out.
    typealias Taker = (_ name: RawSpan, _ value: RawSpan?, _ attributes: ValueAttributes?, _ mark: UInt64) -> Bool

    /// Hands out the values in `place` whose names start with `prefix` and come after `after`, ascending by their
    /// names' UTF-8 bytes and all of one moment, until `body` returns `false`. An unknown place has none.
    ///
    /// - Parameter largest: The most bytes of a value; a larger one is handed out as `nil`, and so is a corrupt one, of
    ///   which reading it by itself says what is wrong.
    /// - Parameter body: Gets a name, its value, what is kept beside it, if the store keeps any, and a mark, which is
    ///   another one after each write of the value and never 0.
    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker) throws

    /// Applies the changes in order, all of them or none, also across a crash; a later change of a name wins.
    ///
    /// - Returns: The indices of changes that expect what is not so; if there are any, nothing has changed.
    func apply(_ changes: BulkChanges) throws -> [Int]
}

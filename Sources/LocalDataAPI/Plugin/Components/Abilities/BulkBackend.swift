/// A store that reads and changes many values in one call, for the bulk migration of a namespace. Ability
/// `localdata.store.bulk/1`.
public protocol BulkBackend: StorageBackend {
    /// Receives one value and returns whether to continue.
    typealias Taker = (_ name: RawSpan, _ value: RawSpan?, _ attributes: ValueAttributes?, _ revision: UInt64) -> Bool

    /// Passes the values in `place` whose names start with `prefix` and sort after `after` to `body`, until it returns
    /// `false`. The names ascend by their UTF-8 bytes, and all values are of one moment. An unknown namespace has no
    /// values.
    ///
    /// - Parameter largest: The most bytes of a value. A larger value is passed as `nil`, and so is a corrupt one;
    ///   reading the value by itself reports what is wrong.
    /// - Parameter body: Receives a name, its value, its attributes if the store keeps any, and its revision: as
    ///   ``ConditionalBackend``'s.
    func forEachValue(
        in place: StorageNamespace, prefix: String, after: String?, largest: Int, _ body: Taker) throws

    /// Applies the changes in order, all or none, even across a crash. The last change of a name wins.
    ///
    /// - Returns: The indices of the changes whose condition is not fulfilled. If there are any, nothing has changed.
    func apply(_ changes: BulkChanges) throws -> [Int]
}

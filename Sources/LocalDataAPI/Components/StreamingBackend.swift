/// A store that takes and gives values in pieces, so that they need not be in memory whole. Ability
/// `localdata.store.streaming/1`.
public protocol StreamingBackend: StorageBackend {
    /// Hands out the value in pieces, in order, until `body` returns `false`, and returns `true`; or returns `false`
    /// if there is no value. All pieces are of one value even if it is replaced meanwhile.
    func read(_ key: Key, _ body: (RawSpan) -> Bool) throws -> Bool

    /// Stores the value that `source` gives: it calls its argument once for each piece, in order, and returns at the
    /// end, or throws to give up, and then the old value stands. Nothing is visible before the end.
    func write(
        _ key: Key, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void) throws
}

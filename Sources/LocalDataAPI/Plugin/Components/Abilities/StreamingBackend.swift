#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A store that reads and writes values in pieces, so that they need not fit in memory. Ability
/// `localdata.store.streaming/1`.
public protocol StreamingBackend: StorageBackend {
    /// Passes the value to `body` in pieces, in order, until `body` returns `false`, and returns `true`; returns
    /// `false` if there is no value. All pieces belong to one value, even if it is replaced meanwhile.
    func read(_ key: Key, _ body: (RawSpan) -> Bool) throws -> Bool

    /// Stores the value that `source` supplies. `source` calls its argument once per piece, in order, and returns at
    /// the end, or throws to give up; then the old value stays. Readers see nothing of the value before the end.
    func write(
        _ key: Key, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void) throws
}

/// A store that records what a value was when it was written, and compares. Ability `localdata.store.verification/1`.
///
/// Such a store never hands out a corrupt value as a right one: `get` and `read` fail with `corrupt`, `read` at the end
/// at the latest, and reading many values at once hands out `nil` for its bytes.
public protocol VerifiableBackend: StorageBackend {
    /// Reads the whole value and compares it with what was recorded; `nil` if there is no value. Changes nothing.
    ///
    /// - Throws: `corrupt` for a value whose bytes are not those that were stored.
    func verify(_ key: Key) throws -> ValueState?
}

/// What a stored value is, beside what was recorded when it was written.
public enum ValueState: UInt32, Hashable, Sendable {
    /// Nothing was recorded: an earlier version or another program wrote it, or it is kept where nothing can be
    /// recorded.
    case unrecorded = 0
    /// As it was written.
    case intact = 1
    /// Another program edited it on purpose, and it is read as it is now.
    case edited = 2
}

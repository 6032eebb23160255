/// A store whose changes can depend on what is stored. Each is one step for all users of the store, including other
/// processes if it is shared. Ability `localdata.store.conditional/1`.
///
/// A value's revision is never 0. Each write of the value gives it a new one, which the value under that key has not
/// had before, even if it was removed meanwhile.
public protocol ConditionalBackend: StorageBackend {
    /// As `get`, with the value's revision and its attributes, all of one write.
    func get(
        _ key: Key, _ deliver: (_ revision: UInt64, _ attributes: ValueAttributes, _ value: RawSpan) -> Void
    ) throws -> Bool

    /// As `set`, if the stored value fulfils the condition.
    ///
    /// - Returns: The new revision; `nil` if the condition is not fulfilled, and then nothing has changed.
    func set(
        _ key: Key, to value: RawSpan, attributes: ValueAttributes?, if condition: WriteCondition
    ) throws -> UInt64?

    /// Removes the value if it has this revision; returns `false` if it has another one or is absent.
    func remove(_ key: Key, ifRevision revision: UInt64) throws -> Bool
}

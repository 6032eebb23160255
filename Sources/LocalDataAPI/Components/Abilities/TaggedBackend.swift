/// A store that returns a value and its version tag in one call, so that both belong to the same write. Ability
/// `localdata.store.tagged/1`.
public protocol TaggedBackend: AttributedBackend {
    /// As `get`, with the `versionTag` of the value's attributes; `nil` if none is known.
    func get(_ key: Key, _ deliver: (_ versionTag: String?, _ value: RawSpan) -> Void) throws -> Bool
}

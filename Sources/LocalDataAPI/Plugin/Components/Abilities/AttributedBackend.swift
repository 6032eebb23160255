/// A store that keeps attributes beside its values. Ability `localdata.store.attributes/1`.
public protocol AttributedBackend: StorageBackend {
    /// The attributes of a stored value, or `nil` if there is no value. The store fills in `size` and `modified`. The
    /// rest is what the last `set` passed, or `nil` where the store does not keep it.
    func attributes(of key: Key) throws -> ValueAttributes?
}

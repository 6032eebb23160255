/// A store that keeps attributes beside its values. Ability `localdata.store.attributes/1`.
public protocol AttributedBackend: StorageBackend {
    /// The attributes of a stored value, or `nil` if there is no value. `size` and `modified` are the store's own; the
    /// rest is what the last `set` gave, or `nil` where it was not kept.
    func attributes(of key: Key) throws -> ValueAttributes?
}

package import FoundationEssentials
internal import HostPlugins
internal import HostSealing
internal import LocalDataAPI

/// One change of a batch, with its store and the layers that seal its value.
package struct BatchChange: Sendable {
    package let resolved: ResolvedKey
    let sealed: SealedValue
    /// The serialized value, or `nil` to remove it.
    package let data: Data?

    package init(_ resolved: ResolvedKey, value: SealedValue, data: Data?) {
        self.resolved = resolved
        sealed = value
        self.data = data
    }

    package var target: ResolvedKey.Target { resolved.target }

    /// The change for the store, with the sealed value.
    func change(_ keys: BatchSeals.Keys) throws(StorageError) -> StorageChange<StoreHandle> {
        StorageChange(
            key: resolved.handle, value: try data.map { (data) throws(StorageError) in try seal(data, keys) },
            attributes: data == nil ? nil : resolved.attributes)
    }

    private func seal(_ data: Data, _ keys: BatchSeals.Keys) throws(StorageError) -> Data {
        var data = data
        for layer in sealed.layers {
            data = try layer.envelope.seal(
                data, under: try keys.key(of: layer), as: layer.style, attributes: resolved.attributes)
        }
        return data
    }
}

extension ResolvedKey {
    /// A change of the value. It has no material of the app's providers; see ``unlocked()``.
    package func changing(to data: Data?) -> BatchChange { BatchChange(self, value: sealed, data: data) }
}

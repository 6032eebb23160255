internal import LocalDataAPI

/// A place of a store in which a ring has sealed values. The ring remembers each, so that none is overlooked when a key
/// is to be retired: a store cannot list the folders that apps choose themselves.
package struct SealedPlace: Sendable {
    /// The store's name in the configuration of the process that remembered the place.
    let store: String
    /// What the store is, whatever its name; see ``OpenStore/identity``.
    let identity: UInt64
    let namespace: StorageNamespace
}

extension SealedPlace: Hashable {
    /// Tells folders apart that serve one scope, too: values stay in the old one when `appGroups.path` is changed.
    package static func == (left: SealedPlace, right: SealedPlace) -> Bool {
        left.identity == right.identity && left.store == right.store && left.namespace == right.namespace
            && left.namespace.directory == right.namespace.directory
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        hasher.combine(namespace)
    }
}

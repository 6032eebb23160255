internal import LocalDataAPI

/// A location in a store where a ring has sealed values. The ring records each, so that none is overlooked before a key
/// is retired: a store cannot list the folders that apps choose.
package struct SealedPlace: Sendable {
    /// The store's name in the configuration of the process that recorded the location.
    let store: String
    /// The store's identity, whatever its name; see ``OpenStore/identity``.
    let identity: UInt64
    let namespace: StorageNamespace
}

extension SealedPlace: Hashable {
    /// Also compares folders of the same scope: values stay in the old folder when `appGroups.path` changes.
    package static func == (left: SealedPlace, right: SealedPlace) -> Bool {
        left.identity == right.identity && left.store == right.store && left.namespace == right.namespace
            && left.namespace.directory == right.namespace.directory
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        hasher.combine(namespace)
    }
}

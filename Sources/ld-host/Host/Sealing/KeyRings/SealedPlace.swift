internal import DurableFiles
package import HostPlugins
package import LocalDataAPI

/// A location in a store where a ring has sealed values. The ring records each, so that none is overlooked before a key
/// is retired: a store cannot list the folders that apps choose.
package struct SealedPlace: Sendable {
    /// The store's name in the configuration of the process that recorded the location.
    package let store: String
    /// The store's identity, whatever its name; see ``OpenStore/identity``.
    package let identity: UInt64
    package let namespace: StorageNamespace

    package init(store: String, identity: UInt64, namespace: StorageNamespace) {
        self.store = store
        self.identity = identity
        self.namespace = namespace
    }
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

extension KeyRing {
    /// For an address in a user's own folder: the same address by other paths that the ring has used for sealing and
    /// that now lead to the same folder. May wait.
    func otherPaths(of address: StorageAddress) -> [StorageAddress] {
        let own = address.place
        guard let directory = own.directory, own.scope.utf8.first == UInt8(ascii: "/"),
            let places = try? state()?.places
        else { return [] }
        let folder = PathIdentity(directory)
        let others = Set(places.map(\.namespace)).filter {
            $0 != own && $0.domain.hasBytes(of: own.domain) && $0.directory.map(PathIdentity.init) == folder
        }
        return others.map { StorageAddress($0, name: address.name) }
    }

    /// The envelope of an address, which opens values sealed for any path of its folder.
    package func envelope(of address: StorageAddress, _ crypto: LoadedCrypto) -> Envelope {
        Envelope(address, crypto: crypto, others: { [self] in otherPaths(of: address) })
    }
}

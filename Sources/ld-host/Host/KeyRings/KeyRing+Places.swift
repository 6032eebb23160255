internal import DurableFiles
internal import LocalDataAPI

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
            $0 != own && $0.domain.utf8.elementsEqual(own.domain.utf8) && $0.directory.map(PathIdentity.init) == folder
        }
        return others.map { StorageAddress($0, name: address.name) }
    }

    /// The envelope of an address, which opens values sealed for any path of its folder.
    func envelope(of address: StorageAddress, _ crypto: LoadedCrypto) -> Envelope {
        Envelope(address, crypto: crypto, others: { [self] in otherPaths(of: address) })
    }
}

internal import DurableFiles
internal import LocalDataAPI

extension KeyRing {
    /// An address in a folder of the user's own, by the other paths that the ring has sealed for and that lead to the
    /// same folder now. May wait.
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

    /// The envelope of an address, which opens whatever path of its folder was sealed for.
    func envelope(of address: StorageAddress, _ crypto: LoadedCrypto) -> Envelope {
        Envelope(address, crypto: crypto, others: { [self] in otherPaths(of: address) })
    }
}

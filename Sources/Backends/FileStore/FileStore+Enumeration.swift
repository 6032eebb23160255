package import LocalDataAPI

extension FileStore: EnumerableBackend {
    package func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        try StorageError.translating {
            let names = try listed.names(in: directory(of: place), prefix: prefix, after: after, limit: limit)
            for name in names where !body(String(decoding: name, as: UTF8.self)) { break }
        }
    }

    package func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        try StorageError.translating {
            let listing = ValueListing(directory: root)
            _ = try listing.forEachPlaceFolder { folders, last in
                guard let place = PlaceName.place(folders: folders, last: last) else { return true }
                let path = folders.map { $0 + [FileName.folderMark] } + [last]
                let isEmpty = try listing.forEachName(in: path) { _ in false }
                return isEmpty || body(place)
            }
        }
    }
}

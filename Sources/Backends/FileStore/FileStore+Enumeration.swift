package import LocalDataAPI

extension FileStore: EnumerableBackend {
    package func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        try StorageError.translating {
            var page = NamePage(prefix: prefix, after: after, limit: limit)
            _ = try ValueListing(directory: directory(of: place)).forEachName {
                page.insert($0)
                return true
            }
            for name in page.sorted() where !body(name) { break }
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

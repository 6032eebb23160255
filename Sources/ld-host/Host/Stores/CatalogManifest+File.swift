internal import LocalDataAPI

extension CatalogManifest {
    /// Reads a manifest's file, of at most 16 MiB.
    ///
    /// - Throws: `invalidConfiguration` with the file.
    init(file path: String) throws(StorageError) {
        guard let data = HostFile.contents(of: path, ownedByUser: false, limit: 16 << 20) else {
            throw StorageError(
                .invalidConfiguration, "the catalog '\(path)' cannot be read, or is not a regular file",
                hint: "correct 'catalogs' in the configuration, or let the app write the manifest again")
        }
        try self.init(json: data, source: path)
    }
}

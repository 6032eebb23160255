import DurableFiles
package import LocalDataAPI

/// Keeps every value in a file of its own, whose content is exactly the value.
///
/// A place is a folder: the one that it names, or `<root>/<domain>[@<scope>]`. A file is replaced through a temporary
/// one in the folder's `.tmp`, with fsync(2) of the file before and of its folder after the rename(2), so a value is
/// whole at every instant, also for other processes, and what was returned from survives a power loss. A batch is
/// written down in `<root>/.batch` before it is put in place. ``FileName`` says how names are spelled. Attributes are
/// kept in the extended attribute `user.localdata`, where the file system has such. Modes are 0600 and 0700; in a
/// folder with the set-group-ID bit 0660 and 2770.
package final class FileStore: StorageBackend {
    package static let component = ComponentInfo(
        id: "file", summary: "keeps each value in a file of its own, replaced durably",
        options: [.path("root", default: "${data}/files", help: "the folder that the store keeps its files in")])

    package let properties = StoreProperties(latency: .disk, isDurable: true, isShared: true)

    let root: DurableDirectory
    let batches: BatchFolder
    private let places = PlaceTable()

    /// Opens a store, and completes a batch that a crash has interrupted; otherwise it makes nothing on the disk.
    ///
    /// - Throws: `invalidOptions` if the root is not an absolute path; `storeUnavailable` if it is not a folder, or if a
    ///   batch cannot be completed.
    package init(options: ComponentOptions, host: HostServices) throws {
        let path = try options.string("root")
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'root' is '\(path)'; expected an absolute path",
                hint: "start it with '/', '~/' or '${data}/'")
        }
        root = try DurableDirectory(root: path)
        batches = try BatchFolder(root: root)
        do {
            try root.checkPath()
            try batches.recover()
        } catch let error as SystemCallError {
            throw StorageError(
                .storeUnavailable, "the root of the file store is not usable: \(error)",
                hint: "choose another 'root', or make it a folder that this user may read")
        } catch let error as DurableBatchError where !error.cause.isRefusal {
            throw StorageError(.storeUnavailable, "\(error)", hint: "check the disk, then try again")
        } catch is DurableBatchError {
            // Whoever may not write here may read all the same; the next who may write completes the batch.
        }
    }

    package func resolve(_ address: StorageAddress) throws -> FileKey {
        guard !address.name.isEmpty else {
            throw StorageError(.invalidAddress, "the name in '\(address.place)/' is empty", hint: "give the key a name")
        }
        let path = RelativePath(pieces: FileName(address.name.utf8).entries)
        return FileKey(place: try directory(of: address.place), path: path)
    }

    package func get(_ key: FileKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        try StorageError.translating {
            guard let file = try key.place.open(key.path) else { return false }
            try file.read(deliver)
            return true
        }
    }

    package func exists(_ key: FileKey) throws -> Bool {
        try StorageError.translating { try key.place.exists(key.path) }
    }

    package func set(_ key: FileKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        try StorageError.translating {
            let attribute = try attributes.flatMap(StoredAttributes.init)?.encoded()
            try batches.around {
                try value.withUnsafeBytes { try key.place.replace(key.path, attribute: attribute, with: $0) }
            }
        }
    }

    package func remove(_ key: FileKey) throws -> Bool {
        try StorageError.translating { try batches.around { try key.place.remove(key.path) } }
    }

    /// The folder of a place, shared by all its keys.
    func directory(of place: StorageNamespace) throws -> DurableDirectory {
        guard let path = place.directory else {
            return try places.directory(root: root.path, folders: PlaceName.folders(of: place))
        }
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidAddress, "the folder of '\(place)' is '\(path)'; expected an absolute path",
                hint: "start it with '/'")
        }
        return try places.directory(root: path)
    }
}

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
///
/// The attribute has a checksum of the value too, with the size and the time of the file's last change:
/// - **Damage.** A file of the recorded time with other bytes has rotted, and `get` fails with `corrupt`. So it does
///   for an emptied file, which is what a program leaves that dies before it writes. No other value is affected, and
///   `set` and `remove` work.
/// - **Edits.** A file that was edited in place on purpose has a later time of change. It is read as it is;
///   ``verify(_:)`` and the log report the edit. A file that an editor or another program put there has no such
///   attribute, and is read as it is.
/// - **Where there are no attributes** (some network and FUSE file systems, ext4 for attributes above 4 KiB), or after
///   a copy that leaves them out, nothing is recorded and damage goes unnoticed, unless the values are sealed.
package final class FileStore: StorageBackend {
    package static let component = ComponentInfo(
        id: "file", summary: "keeps each value in a file of its own, replaced durably",
        options: [.path("root", default: "${data}/files", help: "the folder that the store keeps its files in")])

    package let properties = StoreProperties(latency: .disk, isDurable: true, isShared: true)

    let root: DurableDirectory
    let batches: BatchFolder
    let listed = ListedNames()
    private let places: PlaceTable
    private let log: any StorageLogHandler

    /// Opens a store, and completes a batch that a crash has interrupted; otherwise it makes nothing on the disk.
    ///
    /// - Throws: `invalidOptions` if the root is not an absolute path; `storeUnavailable` if it is not a folder, or if
    ///   the disk fails while a batch is completed; `permissionDenied` for another user's root if this is the
    ///   superuser.
    package init(options: ComponentOptions, host: HostServices) throws {
        let path = try options.string("root")
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'root' is '\(path)'; expected an absolute path",
                hint: "start it with '/', '~/' or '${data}/'")
        }
        log = host.log
        root = try DurableDirectory(root: path)
        batches = try BatchFolder(root: root)
        places = PlaceTable(batches)
        do {
            if let owner = try root.foreignOwner() { throw Self.refusal(path, owner) }
            try batches.recover()
        } catch let error as SystemCallError {
            throw StorageError(
                .storeUnavailable, "the root of the file store is not usable: \(error)",
                hint: "choose another 'root', or make it a folder that this user may read")
        } catch let error as DurableBatchError where !error.leavesReading {
            throw StorageError(.storeUnavailable, "\(error)", hint: "check the disk, then try again")
        } catch is DurableBatchError {
            // Whoever may not write here may read all the same; the next who may write completes the batch. One that is
            // damaged, or that nobody may complete, is reported by changes and by `check`.
        }
    }

    /// Why the superuser does not use what another user keeps: what this process makes there would be the superuser's,
    /// and whatever stands there, that user has put there.
    private static func refusal(_ path: String, _ owner: UInt32) -> StorageError {
        StorageError(
            .permissionDenied,
            "the root '\(path)' of the file store belongs to user \(owner), and this process runs as root",
            hint: "run it as user \(owner), or set HOME or the option 'root' to a folder of root's")
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
            let state = try file.read(
                expecting: { try key.record($0) { try StoredAttributes.record(of: file) } },
                recorded: { try StoredAttributes.record(of: file) }, deliver)
            if state == .edited { noteEdit(file.path) }
            return true
        }
    }

    /// Lets the log know of a value that is read as somebody edited it.
    func noteEdit(_ path: String) {
        log(.info, Self.component.id, "'\(path)' was edited outside LocalData")
    }

    package func exists(_ key: FileKey) throws -> Bool {
        try StorageError.translating { try key.place.exists(key.path) }
    }

    package func set(_ key: FileKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        try StorageError.translating {
            let attribute = try StoredAttributes.encoded(attributes)
            try value.withUnsafeBytes { try batches.replace(key.path, in: key.place, attribute: attribute, with: $0) }
        }
    }

    package func remove(_ key: FileKey) throws -> Bool {
        try StorageError.translating { try batches.remove(key.path, in: key.place) }
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

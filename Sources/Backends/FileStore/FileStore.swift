internal import DurableFiles
internal import FoundationEssentials
internal import Glibc
public import LocalDataPluginAPI

/// Keeps every value in its own file, whose content is exactly the value.
///
/// A namespace is a folder: the one that it names, or `<root>/<domain>[@<scope>]`. A file is replaced through a
/// temporary one in the folder's `.tmp`, with fsync(2) of the file before the rename(2) and of its folder after it. So
/// a value is whole at every instant, even for other processes, and a completed change survives a power loss. A batch
/// is written to `<root>/.batch` before it is put in place. ``FileName`` defines the spelling of names. Attributes are
/// kept in the extended attribute `user.localdata`, where the file system supports it. Modes are 0600 and 0700; in a
/// folder with the set-group-ID bit 0660 and 2770.
///
/// The attribute also contains a checksum of the value, with its size and the file's modification time:
/// - **Damage.** If a file with the recorded time has other bytes, it is corrupt, and `get` fails with `corrupt`. The
///   same goes for an emptied file, which a program leaves that dies before it writes. No other value is affected, and
///   `set` and `remove` work.
/// - **Edits.** A file that was edited in place on purpose has another modification time: a later one, or an earlier
///   one if it was overwritten with a copy that kept its time. It is read as it is; ``verify(_:)`` and the log report
///   the edit. A file that an editor or another program created has no such attribute, and is read as it is.
/// A value's revision and its expiry are there, too. A folder that has held values that expire contains the empty file
/// `.expiring`; in any other, listings do not look at the files. See ``FileStore/sweep(_:limit:)``.
///
/// - **Without attributes** (some network and FUSE file systems, ext4 for attributes above 4 KiB), or after a copy that
///   drops them, there is no record, and damage goes unnoticed unless the values are sealed.
final class FileStore: StorageBackend {
    static let component = ComponentInfo(
        id: "file", summary: "keeps each value in its own file, replaced durably",
        options: [
            .path("root", default: "${data}/files", help: "the folder that the store keeps its files in"),
            .boolean(
                "frozen", default: false,
                help: "whether the store changes nothing, and no batch takes effect while it is open; backups set it"),
        ])

    let properties = StoreProperties(latency: .disk, isDurable: true, isShared: true)

    let root: DurableDirectory
    let batches: BatchFolder
    let listed = NameListing()
    let isFrozen: Bool
    private let places: PlaceTable
    private let log: any StorageLogHandler

    /// Opens a store, and completes a batch that a crash has interrupted; otherwise it creates nothing on the disk.
    ///
    /// - Throws: `invalidOptions` if the root is not an absolute path; `storeUnavailable` if it is not a folder, or if
    ///   the disk fails while a batch is completed; `permissionDenied` if this is the superuser and the root belongs to
    ///   another user.
    init(options: ComponentOptions, host: HostServices) throws {
        let path = try options.string("root")
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidOptions, "option 'root' is '\(path)'; expected an absolute path",
                hint: "start it with '/', '~/' or '${data}/'")
        }
        log = host.log
        root = try DurableDirectory(root: path, isRootPrivate: true, rule: .secret)
        batches = try BatchFolder(root: root)
        places = PlaceTable(root.path, batches)
        isFrozen = options.contains("frozen") ? try options.boolean("frozen") : false
        do {
            if let owner = try root.foreignOwner() { throw Self.refusal(path, owner) }
        } catch let error as StorageError where error.systemError != nil {
            throw StorageError(
                .storeUnavailable, "the root of the file store is unusable: \(error.message)",
                hint: "choose another 'root', or make it a folder that this user can read")
        }
        // A process that may not write here may still read; the next one that may write completes the batch. Changes
        // and `check` report a batch that is damaged or that nobody may complete.
        do { try batches.recover() } catch let error as StorageError where !error.leavesReading {
            throw StorageError(.storeUnavailable, error.message, hint: "check the disk, then try again")
        } catch is StorageError {}
        guard isFrozen else { return }
        // A batch needs the right to write here, too.
        do { try batches.hold() } catch let error as StorageError where error.isRefusal {}
    }

    /// Why the superuser does not use another user's store: new files would belong to the superuser, and that user
    /// controls the existing ones.
    private static func refusal(_ path: String, _ owner: UInt32) -> StorageError {
        StorageError(
            .permissionDenied,
            "the root '\(path)' of the file store belongs to user \(owner), and this process runs as root",
            hint: "run it as user \(owner), or set HOME or the option 'root' to root's own folder")
    }

    func resolve(_ address: StorageAddress) throws -> FileKey {
        guard !address.name.isEmpty else {
            throw StorageError(.invalidAddress, "the name in '\(address.place)/' is empty", hint: "give the key a name")
        }
        let place = try directory(of: address.place)
        return FileKey(place: place, path: try FileName.path(of: address.name, in: place))
    }

    func get(_ key: FileKey, _ deliver: (RawSpan) -> Void) throws -> Bool {
        guard let file = try key.place.open(key.path) else { return false }
        let state = try file.read(
            expecting: {
                let recorded = try key.recorded($0, of: file)
                try recorded.refuseExpired()
                return recorded.record
            },
            recorded: { try StoredAttributes.record(of: file) }, deliver)
        if state == .edited { noteEdit(file.path) }
        return true
    }

    /// Logs that a value was read as someone edited it.
    func noteEdit(_ path: String) {
        log(.info, Self.component.id, "'\(path)' was edited outside LocalData")
    }

    func exists(_ key: FileKey) throws -> Bool {
        guard try key.place.mayExpire else { return try key.place.exists(key.path) }
        guard let file = try key.place.open(key.path) else { return false }
        try StoredAttributes.recorded(of: file).refuseExpired()
        return true
    }

    func set(_ key: FileKey, to value: RawSpan, attributes: ValueAttributes?) throws {
        let attribute = try attribute(attributes, of: key)
        try value.withUnsafeBytes { try batches.replace(key.path, in: key.place, attribute: attribute, with: $0) }
    }

    func remove(_ key: FileKey) throws -> Bool {
        if try key.place.mayExpire, let file = try key.place.open(key.path),
            try StoredAttributes.recorded(of: file).isExpired
        {
            try discard(key)
            return false
        }
        return try batches.remove(key.path, in: key.place)
    }

    /// The folder of a namespace, shared by all its keys.
    func directory(of place: StorageNamespace) throws -> DurableDirectory {
        guard let path = place.directory else {
            return try places.directory(root: root.path, folders: PlaceName.folders(of: place, in: self.root))
        }
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw StorageError(
                .invalidAddress, "the folder of '\(place)' is '\(path)'; expected an absolute path",
                hint: "start it with '/'")
        }
        return try places.directory(root: path)
    }
}

extension FileStore: AttributedBackend {
    func attributes(of key: FileKey) throws -> ValueAttributes? {
        guard let file = try key.place.open(key.path) else { return nil }
        let described = try key.described(file.status(), of: file)
        try described.recorded.refuseExpired()
        return described.attributes
    }
}

extension FileStore: BatchBackend {
    /// Applies the changes, all or none, even across a crash: the next process that opens or changes a store of the
    /// same root completes the batch. While it is put in place, readers see part of it.
    ///
    /// It may include namespaces with their own folders, on any file system. If a store of another root changes a value
    /// there between a crash and the completion, the batch may overwrite that change.
    func apply(_ changes: [StorageChange<FileKey>]) throws {
        // The values of a batch have few different attributes.
        var encoded: [ValueAttributes: FileAttribute] = [:]
        try batches.apply(
            changes.map { change in
                let (place, path) = (change.key.place, change.key.path)
                guard let value = change.value else { return FileChange(in: place, path, content: nil) }
                let attributes = change.attributes ?? ValueAttributes()
                if attributes.expires != nil { try expectExpiry(in: place) }
                let attribute = try encoded[attributes] ?? StoredAttributes.encoded(attributes)
                encoded[attributes] = attribute
                return FileChange(in: place, path, attribute: attribute) { take in
                    try value.withUnsafeBytes { try take($0) }
                }
            })
    }
}

/// Reports an interrupted batch that cannot be completed.
extension FileStore: CheckableBackend {
    func check(_ report: (String) -> Bool) throws {
        do { try batches.recover() } catch let error as StorageError where error.leavesReading {
            // Another process is completing it; whether that succeeds is not known yet.
            if error.systemError == ETIMEDOUT { throw error }
            // A batch that only this process must not write is not damaged.
            if case .distrust = error.cause {
                _ = report(error.message)
            } else if !error.isRefusal {
                _ = report(error.message)
            }
        }
    }
}

extension FileStore: RepairableBackend {
    func repair(_ report: (String) -> Void) throws {
        guard let journal = try batches.setAside() else { return }
        report("a batch was only partly applied, and its rest is given up; its damaged journal is now '\(journal)'")
    }
}

extension FileStore: EnumerableBackend {
    func forEachName(
        in place: StorageNamespace, prefix: String, after: String?, limit: Int?, _ body: (String) -> Bool
    ) throws {
        let directory = try directory(of: place)
        guard try directory.mayExpire else {
            let names = try listed.names(
                in: directory, links: place.directory == nil, prefix: prefix, after: after, limit: limit)
            for name in names where !body(name) { break }
            return
        }
        try forEachPresentName(
            in: directory, links: place.directory == nil, prefix: prefix, after: after, limit: limit, body)
    }

    /// - Throws: After all others, the error of a folder that this user must not read.
    func forEachPlace(_ body: (StorageNamespace) -> Bool) throws {
        var failure: StorageError?
        var listing = ValueListing(directory: root, givesLinks: true)
        listing.passesOver = { failure = failure ?? $0 }
        let isAll = try listing.forEachPlaceFolder { [listing] folders, last in
            guard let place = PlaceName.place(folders: folders, last: last) else { return true }
            let path = folders.map { $0 + [FileName.folderMark] } + [last]
            var isEmpty = try listing.forEachName(in: path) { _ in false }
            let directory = try directory(of: place)
            if !isEmpty, try directory.mayExpire {
                isEmpty = true
                try forEachPresentName(in: directory, links: true, prefix: "", after: nil, limit: 1) { _ in
                    isEmpty = false
                    return false
                }
            }
            return isEmpty || body(place)
        }
        if isAll, let failure { throw failure }
    }
}

extension FileStore: StreamingBackend {
    func read(_ key: FileKey, _ body: (RawSpan) -> Bool) throws -> Bool {
        guard let file = try key.place.open(key.path) else { return false }
        let recorded = try StoredAttributes.recorded(of: file)
        try recorded.refuseExpired()
        let state = try file.readPieces(expecting: recorded.record, body)
        if state == .edited { noteEdit(file.path) }
        return true
    }

    func write(
        _ key: FileKey, attributes: ValueAttributes?, from source: ((RawSpan) throws -> Void) throws -> Void
    ) throws {
        let attribute = try attribute(attributes, of: key)
        try batches.replace(key.path, in: key.place, attribute: attribute, from: source)
    }
}

extension FileStore: VerifiableBackend {
    func verify(_ key: FileKey) throws -> ValueState? {
        guard let file = try key.place.open(key.path) else { return nil }
        let recorded = try StoredAttributes.recorded(of: file)
        try recorded.refuseExpired()
        return switch try file.readPieces(expecting: recorded.record, { _ in true }) {
        case .unrecorded: .unrecorded
        case .intact: .intact
        case .edited: .edited
        }
    }
}

extension FileStore: WipingBackend {
    /// A value's file is removed with the value, so only temporary files of killed processes may still contain parts of
    /// it; those are removed. It does not overwrite the blocks of removed files: no file system promises that new bytes
    /// go to the same blocks.
    func wipe(_ place: StorageNamespace) throws {
        try batches.recover()
        try directory(of: place).removeAbandoned()
    }
}

extension FileStore: WatchableBackend {
    /// Reports files that this or another process puts in place or removes, within milliseconds; see inotify(7). It
    /// does not report files that are edited in place, bypassing the store.
    func watch(
        _ place: StorageNamespace, prefix: String, changed: @escaping @Sendable (String?) -> Void
    ) throws -> FolderWatch {
        try FolderWatch(directory(of: place).path, entersFolder: { $0.last == FileName.folderMark }) { change in
            switch change {
            case .anything: changed(nil)
            case .file(let folders, let file):
                guard let name = FileName.name(folders: folders.map { Array($0.dropLast()) }, file: file),
                    name.utf8.starts(with: prefix.utf8)
                else { return }
                changed(name)
            }
        }
    }

    func unwatch(_ watch: FolderWatch) { watch.end() }
}

extension Plugin.Component {
    /// The store, for a plugin and for programs that link it.
    public static var fileStore: Plugin.Component { .storage(FileStore.self) }
}

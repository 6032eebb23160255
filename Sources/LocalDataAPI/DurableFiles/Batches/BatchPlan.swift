import Glibc
import LocalDataPluginAPI

/// A batch before its commit: one change per file, and the folders that they need.
struct BatchPlan {
    let id: String
    let changes: [FileChange]
    let steps: [BatchStep]
    private let folders: [ObjectIdentifier: DurableDirectory.Writable]
    private let fileSystems = FileSystems()

    /// Whether the batch removes files.
    var removes: Bool { steps.contains { $0.staged == nil } }

    /// Creates the folders for new files. Ignores removals in a folder that does not exist.
    ///
    /// - Parameter id: Called for the batch's name if there is more than one change.
    /// - Throws: `StorageError`, also if a name belongs to something other than a regular file.
    init(_ changes: [FileChange], id newID: () throws -> String) throws {
        var folders: [ObjectIdentifier: DurableDirectory.Writable] = [:]
        for change in changes where change.content != nil && folders[ObjectIdentifier(change.place)] == nil {
            folders[ObjectIdentifier(change.place)] = try change.place.folderForWriting()
        }
        for change in changes where change.content == nil && folders[ObjectIdentifier(change.place)] == nil {
            folders[ObjectIdentifier(change.place)] = try change.place.folderIfThere()
        }
        var kept: [FileChange] = []
        var last: [Target: Int] = [:]
        for change in changes {
            guard let folder = folders[ObjectIdentifier(change.place)] else { continue }
            let target = Target(device: folder.device, inode: folder.inode, path: change.path.text.bytes)
            if let index = last[target] {
                kept[index] = change
            } else {
                _ = try change.place.isRegular(change.path, in: folder.descriptor)
                last[target] = kept.count
                kept.append(change)
            }
        }
        let id = kept.count > 1 ? try newID() : ""
        self.id = id
        self.folders = folders
        self.changes = kept
        steps = kept.enumerated().map { index, change in
            let staged = change.content.map { _ in BatchStep.stagedName(batch: id, index: index) }
            return BatchStep(place: change.place, path: change.path, staged: staged)
        }
    }

    /// Checks that the batch could be completed from its journal.
    ///
    /// - Throws: `StorageError` with `EPERM` otherwise.
    func check(_ authority: BatchAuthority, root: String) throws(StorageError) {
        var done: Set<ObjectIdentifier> = []
        for step in steps where done.insert(ObjectIdentifier(step.place)).inserted {
            try authority.check(BatchJournal.Place(step.place.path, root: root))
            guard let folder = folders[ObjectIdentifier(step.place)] else { continue }
            try authority.check(folder: folder.descriptor, at: step.place.path)
        }
    }

    /// The journal that is written before the batch begins.
    func journal(root: String) -> [UInt8] {
        var journal = BatchJournal(id: id)
        var numbers: [ObjectIdentifier: Int] = [:]
        for step in steps {
            let number = numbers[ObjectIdentifier(step.place)] ?? journal.places.count
            if number == journal.places.count {
                numbers[ObjectIdentifier(step.place)] = number
                journal.places.append(BatchJournal.Place(step.place.path, root: root))
            }
            journal.changes.append(
                BatchJournal.Change(place: number, hasContent: step.staged != nil, path: step.path.text.bytes))
        }
        return journal.encoded
    }

    /// Writes the contents under temporary names and makes them durable.
    ///
    /// - Throws: `StorageError`; what the contents throw.
    func stage() throws {
        let isMany = changes.count >= Self.many
        for (change, step) in zip(changes, steps) {
            guard let content = change.content, let name = step.staged,
                let folder = folders[ObjectIdentifier(change.place)]
            else { continue }
            let isSynchronizedLater = try isMany && fileSystems.insert(change.place, folder)
            if !change.path.folders.isEmpty { try change.place.makeFolders(of: change.path, folder) }
            let file = try Self.create(name, in: change.place, folder)
            var checksum = Checksum()
            try content {
                try file.write($0)
                checksum.add($0)
            }
            if let attribute = change.attribute { try file.setAttribute(attribute, of: checksum) }
            if !isSynchronizedLater { try file.synchronize() }
        }
        try fileSystems.synchronize()
        try synchronizeNames(isMany)
    }

    /// Makes the names of the staged contents durable, unless synchronizing a whole file system has already done so.
    private func synchronizeNames(_ isMany: Bool) throws(StorageError) {
        var done: Set<ObjectIdentifier> = []
        for step in steps where step.staged != nil && done.insert(ObjectIdentifier(step.place)).inserted {
            guard let folder = folders[ObjectIdentifier(step.place)] else { continue }
            if isMany, try fileSystems.insert(step.place, folder) { continue }
            try step.place.synchronizeSelf(step.place.temporaryFolder(folder))
            try step.place.synchronizeSelf(folder.descriptor)
        }
    }

    private static func create(
        _ name: CString, in place: DurableDirectory, _ folder: DurableDirectory.Writable
    ) throws(StorageError) -> OpenFile {
        let location = FileLocation(directory: place, name: CString("\(TemporaryFile.folder)/\(name)".utf8))
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        var opened = Descriptor.open(name.start, in: try place.temporaryFolder(folder), flags, mode: 0o600)
        if opened < 0, errno == ENOENT {
            place.forgetTemporaryFolder()
            opened = Descriptor.open(name.start, in: try place.temporaryFolder(folder), flags, mode: 0o600)
        }
        guard let descriptor = Descriptor(opened) else {
            throw StorageError(system: errno, "create", path: location.description)
        }
        let file = OpenFile(descriptor, at: location)
        if folder.isShared { try file.setPermissions(0o660) }
        try file.check(place, isShared: folder.isShared)
        return file
    }

    /// From this many changes on, whole file systems are synchronized where possible, and not each file. That also
    /// waits for what others have written, but writes everything at once.
    private static let many = 32

    /// Identifies a file, whatever path its folder has.
    private struct Target: Hashable {
        let device: dev_t
        let inode: ino_t
        let path: [UInt8]
    }
}

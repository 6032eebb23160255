import Glibc

/// A batch before it is committed: its changes, each file once, and the folders that they need.
struct BatchPlan {
    let id: String
    let changes: [BatchChange]
    let steps: [BatchStep]
    private let folders: [ObjectIdentifier: DurableDirectory.Writable]
    private let fileSystems = FileSystems()

    /// Whether a file is removed.
    var removes: Bool { steps.contains { $0.staged == nil } }

    /// Makes the folders of what is set. Removals in a place that does not exist are left out.
    ///
    /// - Throws: `FileKindError` if something else than a regular file has a name, `SystemCallError`.
    init(_ changes: [BatchChange], id: String) throws {
        var folders: [ObjectIdentifier: DurableDirectory.Writable] = [:]
        for change in changes where change.content != nil && folders[ObjectIdentifier(change.place)] == nil {
            folders[ObjectIdentifier(change.place)] = try change.place.folderForWriting()
        }
        for change in changes where change.content == nil && folders[ObjectIdentifier(change.place)] == nil {
            folders[ObjectIdentifier(change.place)] = try change.place.folderIfThere()
        }
        var kept: [BatchChange] = []
        var last: [Target: Int] = [:]
        for change in changes {
            guard let folder = folders[ObjectIdentifier(change.place)] else { continue }
            let target = Target(device: folder.device, inode: folder.inode, path: change.path.text.bytes)
            if let index = last[target] {
                kept[index] = change
            } else {
                _ = try change.place.isRegular(change.path.text, in: folder.descriptor)
                last[target] = kept.count
                kept.append(change)
            }
        }
        self.id = id
        self.folders = folders
        self.changes = kept
        steps = kept.enumerated().map { index, change in
            let staged = change.content.map { _ in BatchStep.stagedName(batch: id, index: index) }
            return BatchStep(place: change.place, path: change.path, staged: staged)
        }
    }

    /// What is written down before the batch begins.
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

    /// Writes the contents and makes them durable, under names that are not theirs yet.
    ///
    /// - Throws: `SystemCallError`; what the contents throw.
    func stage() throws {
        let isMany = changes.count >= Self.many
        for (change, step) in zip(changes, steps) {
            guard let content = change.content, let name = step.staged,
                let folder = folders[ObjectIdentifier(change.place)]
            else { continue }
            if isMany { try fileSystems.insert(change.place, folder) }
            for path in change.path.folders { try change.place.makeFolder(path, folder) }
            let file = try Self.create(name, in: change.place, folder)
            try content { try file.write($0) }
            if let attribute = change.attribute { try file.setAttribute(attribute) }
            if !isMany { try file.synchronize() }
        }
        if isMany { try fileSystems.synchronize() } else { try synchronizeNames() }
    }

    /// Makes the names of the staged contents durable.
    private func synchronizeNames() throws {
        var done: Set<ObjectIdentifier> = []
        for step in steps where step.staged != nil && done.insert(ObjectIdentifier(step.place)).inserted {
            guard let folder = folders[ObjectIdentifier(step.place)]?.descriptor else { continue }
            let location = FileLocation(directory: step.place, name: TemporaryFile.folder)
            try FolderMaker.synchronize(TemporaryFile.folder, in: folder, at: location.description, isOwn: true)
            try step.place.synchronizeSelf(folder)
        }
    }

    private static func create(
        _ name: CString, in place: DurableDirectory, _ folder: DurableDirectory.Writable
    ) throws -> OpenFile {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        var opened = Descriptor.open(name.start, in: folder.descriptor, flags, mode: 0o600)
        if opened < 0, errno == ENOENT {
            try place.makeFolder(TemporaryFile.folder, folder)
            opened = Descriptor.open(name.start, in: folder.descriptor, flags, mode: 0o600)
        }
        guard let descriptor = Descriptor(opened) else { throw place.failure(errno, "create", name) }
        let file = OpenFile(descriptor, at: FileLocation(directory: place, name: name))
        if folder.isShared, fchmod(file.descriptor.number, 0o660) != 0 { throw file.failure(errno, "set the mode of") }
        return file
    }

    /// From how many changes on the whole file systems are synchronized, and not each file: what others have written
    /// there has to be waited for too, but all is written at once.
    private static let many = 32

    /// The same file, however its folder is called.
    private struct Target: Hashable {
        let device: dev_t
        let inode: ino_t
        let path: [UInt8]
    }
}

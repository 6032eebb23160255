internal import ByteCoding
import Glibc
import LocalDataPluginAPI

extension BatchFolder {
    /// Completes the committed batch, if there is one. The caller has the lock, so its owner is dead.
    ///
    /// - Throws: `StorageError`; then the journal stays. With `EBADMSG` for a damaged journal, `ENOTSUP` for one of
    ///   a later version, `EPERM` for one that others could have written and that changes more than they may.
    func complete(_ lock: borrowing BatchLock) throws {
        guard let file = try openJournal() else { return lock.conclude() }
        let authority = try BatchAuthority(
            file.descriptor.number, named: journalPath.description, in: directory.folderForWriting())
        guard let journal = try journal(in: file) else {
            throw StorageError(
                system: EBADMSG, "complete the batch in", path: journalPath.description,
                detail: "the journal is damaged")
        }
        for place in journal.places { try authority.check(place) }
        try BatchSteps(steps(of: journal), authority).takeDurably()
        _ = try directory.remove(Self.journal)
        lock.conclude()
    }

    private func openJournal() throws(StorageError) -> OpenFile? {
        do {
            guard let file = try directory.open(Self.journal) else { return nil }
            _ = try file.status()
            return file
        } catch {
            guard case .irregularFile(let kind) = error.cause else { throw error }
            throw StorageError(system: EBADMSG, "read", path: journalPath.description, detail: "it is \(kind)")
        }
    }

    /// Gives up a batch whose journal is damaged: renames the journal, so that changes are possible again. Files that
    /// the batch has put in place stay; the others are never replaced.
    ///
    /// - Returns: The new path of the journal; `nil` if there is no damaged journal.
    /// - Throws: `StorageError`, which states what readers find.
    public func setAside() throws -> String? {
        guard isPending else { return nil }
        return try failing(.blocked) { () throws -> String? in
            let lock = try lock()
            do {
                try complete(lock)
                return nil
            } catch let error as StorageError where error.systemError == EBADMSG {
                return try renameJournal()
            }
        }
    }

    private func renameJournal() throws(StorageError) -> String {
        let folder = try directory.folderForWriting().descriptor
        let name = CString("damaged-\(try newID())".utf8)
        guard renameat(folder, Self.journal.text.start, folder, name.start) == 0 else {
            throw directory.failure(errno, "rename", Self.journal.text)
        }
        try directory.synchronizeSelf(folder)
        return "\(directory.path)/\(name)"
    }

    /// Removes uncommitted batches whose owners are dead, as far as this process may.
    func clearAbandoned() {
        try? directory.forEachEntry { name, kind in
            guard kind == .regular, name.count == BatchJournal.idLength else { return true }
            let path = RelativePath(pieces: CollectionOfOne(name))
            // Held under its name: its owner is dead and has not committed it.
            guard case .held(let held)? = try? directory.hold(path) else { return true }
            discard(held.file, named: name)
            if let folder = try directory.descriptorForReading() { unlinkat(folder, path.text.start, 0) }
            return true
        }
    }

    /// Removes the staged files of an uncommitted batch. Ignores entries beyond its authority.
    private func discard(_ file: borrowing OpenFile, named name: [UInt8]) {
        guard let journal = try? journal(in: file), journal.id.utf8.elementsEqual(name),
            let folder = try? directory.folderForWriting(),
            let authority = try? BatchAuthority(
                file.descriptor.number, named: journalPath.description, in: folder),
            let steps = try? steps(of: journal)
        else { return }
        for step in steps {
            let place = BatchJournal.Place(step.place.path, root: root)
            if (try? authority.check(place)) != nil { step.discard() }
        }
    }

    /// A batch's name, which is the name of its file before the commit. The first half identifies the root.
    ///
    /// - Throws: `StorageError`.
    func newID() throws(StorageError) -> String {
        try Self.identity(directory.folderForWriting(), root) + Self.digits(.random(in: .min ... .max))
    }

    /// Whether a staged file belongs to a dead batch of this root that nobody will complete, as after a power loss. If
    /// in doubt, `false`.
    func isDead(staged batch: ArraySlice<UInt8>) -> Bool {
        guard let folder = try? directory.folderIfThere(),
            batch.starts(with: Self.identity(folder, root).utf8)
        else { return false }
        // A batch creates its file first, then the staged files. Its file becomes the journal and is removed last.
        let path = RelativePath(pieces: CollectionOfOne(batch))
        guard let isUnderWay = try? directory.exists(path), !isUnderWay else { return false }
        do {
            guard let file = try directory.open(Self.journal) else { return true }
            guard let journal = try journal(in: file) else { return false }
            return !journal.id.utf8.elementsEqual(batch)
        } catch {
            return false
        }
    }

    /// A value shared by all batches of a root, and by no other root, nor by one created later at the same path.
    private static func identity(_ folder: DurableDirectory.Writable, _ root: String) -> String {
        digits(StableHash.of(Array("\(root)/\(folder.inode)".utf8)))
    }

    /// Eight base-36 digits of a number.
    private static func digits(_ number: UInt64) -> String {
        let digits = String(number % 2_821_109_907_456, radix: 36)
        return String(repeating: "0", count: BatchJournal.idLength / 2 - digits.count) + digits
    }

    /// The content of a journal; `nil` if it is damaged.
    ///
    /// - Throws: `StorageError`, with `ENOTSUP` for one of a later version.
    private func journal(in file: borrowing OpenFile) throws -> BatchJournal? {
        guard try file.status().size <= Self.mostBytes else { return nil }
        var bytes: [UInt8] = []
        try file.read { span in bytes = span.withUnsafeBytes { Array($0) } }
        if BatchJournal.isLater(bytes) {
            throw StorageError(
                system: ENOTSUP, "complete the batch in", path: file.location.description,
                detail: "a later version has written the journal")
        }
        return BatchJournal(bytes)
    }

    private func steps(of journal: BatchJournal) throws -> [BatchStep] {
        let places = try journal.places.map { place in
            guard let directory = try directory(of: place) else { throw strange(place.path) }
            return directory
        }
        return try journal.changes.enumerated().map { index, change in
            guard let pieces = Self.pieces(change.path), Self.isFile(pieces) else { throw strange(change.path) }
            return BatchStep(
                place: places[change.place], path: RelativePath(pieces: pieces),
                staged: change.hasContent ? BatchStep.stagedName(batch: journal.id, index: index) : nil)
        }
    }

    private func directory(of place: BatchJournal.Place) throws(StorageError) -> DurableDirectory? {
        if place.isBelowRoot {
            guard let pieces = Self.pieces(place.path), pieces.allSatisfy({ $0.first != UInt8(ascii: ".") }) else {
                return nil
            }
            return try DurableDirectory(root: root, folders: pieces.map { String(decoding: $0, as: UTF8.self) })
        }
        guard place.path.first == UInt8(ascii: "/"), !place.path.contains(0) else { return nil }
        return try DurableDirectory(root: String(decoding: place.path, as: UTF8.self))
    }

    private func strange(_ path: [UInt8]) -> StorageError {
        StorageError(
            system: EPERM, "complete the batch in", path: journalPath.description,
            detail: "it changes '\(String(decoding: path, as: UTF8.self))', which is not the path of a value")
    }

    /// Whether a path may belong to a value: nothing on it is hidden, and its folders are marked.
    private static func isFile(_ pieces: [ArraySlice<UInt8>]) -> Bool {
        !pieces.isEmpty && pieces.allSatisfy { $0.first != UInt8(ascii: ".") }
            && pieces.dropLast().allSatisfy { $0.last == UInt8(ascii: "~") }
    }

    /// The names in a path that only descends; `nil` for any other path.
    private static func pieces(_ path: [UInt8]) -> [ArraySlice<UInt8>]? {
        if path.isEmpty { return [] }
        let pieces = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isPlain = pieces.allSatisfy {
            !$0.isEmpty && !$0.contains(0) && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
        return isPlain ? pieces : nil
    }

    /// A journal takes about 300 bytes per change.
    private static let mostBytes = 1 << 28
}

import Glibc
import Synchronization

extension DurableDirectory {
    /// Hands out what stands in this folder, or in one below it, in no order, until `body` returns `false`: names as
    /// their bytes. Leaves out names that start with `.`. A folder that is not there has no entries.
    ///
    /// An entry that is there all the while is given once, also if its file is replaced, on file systems that rename
    /// in place (ext4, XFS, F2FS); others, such as Btrfs, may give it twice or not.
    package func forEachEntry(
        in path: RelativePath? = nil, _ body: (_ name: [UInt8], _ kind: FileKind) throws -> Bool
    ) throws {
        guard let folder = try descriptorForReading() else { return }
        _ = try reopenIfReplaced(folder)
        let name = path?.text ?? Self.itself
        // A descriptor of its own: the position in a folder belongs to the open file.
        guard let opened = Descriptor(Descriptor.openBelow(name.start, in: folder, O_RDONLY | O_DIRECTORY)) else {
            let code = errno
            if code == ENOENT { return }
            throw failure(code, "open the folder", name)
        }
        guard let entries = EntryList(opened) else { throw failure(errno, "list", name) }
        while let entry = try entries.next({ failure($0, "list", name) }) {
            guard try body(entry.name, entry.kind) else { return }
        }
    }

    /// Removes temporary files whose owners are dead, and makes that durable.
    ///
    /// - Throws: `SystemCallError`.
    package func removeAbandoned() throws {
        guard let folder = try descriptorForReading() else { return }
        cleanUp(folder)
        try synchronizeSelf(folder)
    }

    /// Has nothing looked for when the folder is opened: this process has done so before.
    package func skipCleaning() { isToBeCleaned.store(false, ordering: .relaxed) }

    /// Removes temporary files whose owners are dead, and what dead batches have staged. What cannot be cleaned stays;
    /// at most 1,000 files in one go.
    func cleanUp(_ folder: Int32) {
        guard staging == .inFolder, isToBeCleaned.load(ordering: .relaxed) else { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        guard let opened = Descriptor(Descriptor.open(TemporaryFile.folder.start, in: folder, flags)) else { return }
        let number = opened.number
        guard let entries = EntryList(opened, hidden: true) else { return }
        var isDead: [ArraySlice<UInt8>: Bool] = [:]
        for _ in 0..<1000 {
            guard let entry = try? entries.next({ SystemCallError($0, "list", path: path) }) else { return }
            guard entry.kind == .regular else { continue }
            let name = CString(entry.name)
            if entry.name.first != UInt8(ascii: ".") {
                TemporaryFile.removeIfDead(name, in: number)
            } else if let batches, let batch = BatchStep.batch(ofStaged: entry.name) {
                let goes = isDead[batch] ?? batches.isDead(staged: batch)
                isDead[batch] = goes
                if goes { unlinkat(number, name.start, 0) }
            }
        }
    }

    private static let itself = CString(".".utf8)
}

import Glibc

/// What a batch does with one file. Every step may be taken again: the result is the same as long as nobody else has
/// changed the file since.
struct BatchStep {
    let place: DurableDirectory
    let path: RelativePath
    /// The name of the new content in the folder for temporary files; `nil` removes the file.
    let staged: CString?

    /// The name of the content of a batch's change. It starts with a dot, so that no cleaner takes it for a temporary
    /// file whose owner is dead.
    static func stagedName(batch: String, index: Int) -> CString { CString(".\(batch)-\(index)".utf8) }

    /// The batch that a name of a content stands for; `nil` for any other name.
    static func batch(ofStaged name: [UInt8]) -> ArraySlice<UInt8>? {
        let batch = name.dropFirst().prefix(BatchJournal.idLength)
        let rest = name.dropFirst(1 + BatchJournal.idLength)
        guard name.first == UInt8(ascii: "."), batch.allSatisfy(BatchJournal.isNameByte), rest.count > 1,
            rest.first == UInt8(ascii: "-"),
            rest.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return batch
    }

    /// Puts the new content in place, or removes the file. Passes over content that is gone: it is in place already.
    ///
    /// - Throws: `SystemCallError`.
    func take(in folder: DurableDirectory.Writable, _ authority: BatchAuthority) throws {
        if let staged { try publish(staged, folder, authority) } else { try remove(folder, authority) }
    }

    /// Removes the staged content, if it is there.
    func discard() {
        guard let staged, let folder = try? place.folderIfThere(),
            let temporary = try? place.temporaryFolderIfThere(folder)
        else { return }
        unlinkat(temporary, staged.start, 0)
    }

    /// Removes the folders on the way to a removed file that have become empty.
    func tidy() {
        guard staged == nil, !path.folders.isEmpty, let folder = try? place.descriptorForReading() else { return }
        place.removeEmptyFolders(of: path, in: folder)
    }

    private func publish(
        _ staged: CString, _ folder: DurableDirectory.Writable, _ authority: BatchAuthority
    ) throws {
        guard let temporary = try place.temporaryFolderIfThere(folder) else { return }
        for _ in 0..<Self.attempts {
            if let parent = try parent(in: folder, authority) {
                if renameat(temporary, staged.start, parent.number, path.name.start) == 0 { return }
                let code = errno
                guard try place.isRegular(staged, in: temporary) else { return }
                guard code == ENOENT, !path.folders.isEmpty else {
                    let from = CString("\(TemporaryFile.folder)/\(staged)".utf8)
                    throw SystemCallError(
                        code, "rename", path: FileLocation(directory: place, name: from).description,
                        to: FileLocation(directory: place, name: path.text).description)
                }
            } else if try !place.isRegular(staged, in: temporary) {
                return
            }
            // A folder on the way is missing: someone has removed the last file in it.
            do {
                try place.makeFolders(of: path, folder)
            } catch let error as SystemCallError where error.code == ENOENT {
                continue
            }
        }
        throw place.failure(EBUSY, "create the folder of", path.text)
    }

    private func remove(_ folder: DurableDirectory.Writable, _ authority: BatchAuthority) throws {
        guard let parent = try parent(in: folder, authority),
            unlinkat(parent.number, path.name.start, 0) != 0
        else { return }
        let code = errno
        if code == ENOENT { return }
        // Removed all the same, by a disk or server that failed in the middle of it?
        if code == EIO, try !place.isRegular(path.name, in: parent.number) { return }
        throw place.failure(code, "remove", path.text)
    }

    private func parent(
        in folder: DurableDirectory.Writable, _ authority: BatchAuthority
    ) throws -> ParentFolder? {
        guard let parent = try place.parent(of: path, in: folder.descriptor) else { return nil }
        if let inner = path.folders.last {
            try authority.check(
                folder: parent.number, at: FileLocation(directory: place, name: inner.path).description)
        }
        return parent
    }

    /// How often a rename is tried.
    private static let attempts = 1000
}

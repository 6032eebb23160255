import Glibc
import LocalDataPluginAPI

/// What a batch does with one file. A step may be repeated with the same result as long as nobody else has changed the
/// file.
struct BatchStep {
    let place: DurableDirectory
    let path: RelativePath
    /// The name of the new content in the folder for temporary files; `nil` to remove the file.
    let staged: CString?

    /// The name of the content of a batch's change. It starts with a dot, so that no cleaner mistakes it for a
    /// temporary file of a dead owner.
    static func stagedName(batch: String, index: Int) -> CString { CString(".\(batch)-\(index)".utf8) }

    /// The batch that a staged name belongs to; `nil` for any other name.
    static func batch(ofStaged name: [UInt8]) -> ArraySlice<UInt8>? {
        let batch = name.dropFirst().prefix(BatchJournal.idLength)
        let rest = name.dropFirst(1 + BatchJournal.idLength)
        guard name.first == UInt8(ascii: "."), batch.allSatisfy(BatchJournal.isNameByte), rest.count > 1,
            rest.first == UInt8(ascii: "-"),
            rest.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return batch
    }

    /// Puts the new content in place, or removes the file. Skips content that is gone: it is already in place.
    ///
    /// - Throws: `StorageError`.
    func take(in folder: DurableDirectory.Writable, _ authority: BatchAuthority) throws(StorageError) {
        if let staged { try publish(staged, folder, authority) } else { try remove(folder, authority) }
    }

    /// Removes the staged content, if it exists.
    func discard() {
        guard let staged, let folder = try? place.folderIfThere(),
            let temporary = try? place.temporaryFolderIfThere(folder)
        else { return }
        unlinkat(temporary, staged.start, 0)
    }

    /// Removes empty parent folders of a removed file.
    func tidy() {
        guard staged == nil, !path.folders.isEmpty, let folder = try? place.descriptorForReading() else { return }
        place.removeEmptyFolders(of: path, in: folder)
    }

    private func publish(
        _ staged: CString, _ folder: DurableDirectory.Writable, _ authority: BatchAuthority
    ) throws(StorageError) {
        guard let temporary = try place.temporaryFolderIfThere(folder) else { return }
        for _ in 0..<Self.attempts {
            if let parent = try parent(in: folder, authority) {
                if renameat(temporary, staged.start, parent.number, path.name.start) == 0 { return }
                let code = errno
                guard try place.isRegular(staged, in: temporary) else { return }
                guard code == ENOENT, !path.folders.isEmpty else {
                    let from = CString("\(TemporaryFile.folder)/\(staged)".utf8)
                    throw StorageError(
                        system: code, "rename", path: FileLocation(directory: place, name: from).description,
                        to: FileLocation(directory: place, name: path.text).description)
                }
            } else if try !place.isRegular(staged, in: temporary) {
                return
            }
            // A parent folder is missing: someone has removed the last file in it.
            do {
                try place.makeFolders(of: path, folder)
            } catch let error where error.systemError == ENOENT {
                continue
            }
        }
        throw place.failure(EBUSY, "create the folder of", path.text)
    }

    private func remove(_ folder: DurableDirectory.Writable, _ authority: BatchAuthority) throws(StorageError) {
        guard let parent = try parent(in: folder, authority),
            unlinkat(parent.number, path.name.start, 0) != 0
        else { return }
        let code = errno
        if code == ENOENT { return }
        // A failing disk or server may have removed it although it reported an error.
        if code == EIO, try !place.isRegular(path.name, in: parent.number) { return }
        throw place.failure(code, "remove", path.text)
    }

    private func parent(
        in folder: DurableDirectory.Writable, _ authority: BatchAuthority
    ) throws(StorageError) -> ParentFolder? {
        guard let parent = try place.parent(of: path, in: folder.descriptor) else { return nil }
        if let inner = path.folders.last {
            try authority.check(
                folder: parent.number, at: FileLocation(directory: place, name: inner.path).description)
        }
        return parent
    }

    /// The maximum number of attempts to rename.
    private static let attempts = 1000
}

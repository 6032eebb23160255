import Glibc

/// What a batch does with one file. Every step may be taken again: the result is the same as long as nobody else has
/// changed the file since.
struct BatchStep {
    let place: DurableDirectory
    let path: RelativePath
    /// Where the new content stands, below the place; `nil` removes the file.
    let staged: CString?

    /// Where the content of a batch's change stands. The name starts with a dot, so that no cleaner takes it for a
    /// temporary file whose owner is dead.
    static func stagedName(batch: String, index: Int) -> CString {
        CString("\(TemporaryFile.folder)/.\(batch)-\(index)".utf8)
    }

    /// Puts the new content in place, or removes the file. Passes over content that is gone: it is in place already.
    ///
    /// - Throws: `SystemCallError`.
    func take(in folder: DurableDirectory.Writable) throws {
        if let staged { try publish(staged, folder) } else { try remove(folder) }
    }

    /// Removes the staged content, if it is there.
    func discard() {
        guard let staged, let folder = try? place.descriptorForReading() else { return }
        unlinkat(folder, staged.start, 0)
    }

    /// Removes the folders on the way to a removed file that have become empty.
    func tidy() {
        guard staged == nil, !path.folders.isEmpty, let folder = try? place.descriptorForReading() else { return }
        for name in path.folders.reversed() where unlinkat(folder, name.start, AT_REMOVEDIR) != 0 { break }
    }

    private func publish(_ staged: CString, _ folder: DurableDirectory.Writable) throws {
        for _ in 0..<Self.attempts {
            if renameat(folder.descriptor, staged.start, folder.descriptor, path.text.start) == 0 { return }
            let code = errno
            guard try place.isRegular(staged, in: folder.descriptor) else { return }
            guard code == ENOENT, !path.folders.isEmpty else {
                let from = FileLocation(directory: place, name: staged).description
                let target = FileLocation(directory: place, name: path.text).description
                throw SystemCallError(code, "rename", path: from, to: target)
            }
            // A folder on the way is missing: someone has removed the last file in it.
            do {
                for name in path.folders { try place.makeFolder(name, folder) }
            } catch let error as SystemCallError where error.code == ENOENT {
                continue
            }
        }
        throw place.failure(EBUSY, "create the folder of", path.text)
    }

    private func remove(_ folder: DurableDirectory.Writable) throws {
        guard unlinkat(folder.descriptor, path.text.start, 0) != 0 else { return }
        let code = errno
        if code == ENOENT { return }
        // Removed all the same, by a disk or server that failed in the middle of it?
        if code == EIO, try !place.isRegular(path.text, in: folder.descriptor) { return }
        throw place.failure(code, "remove", path.text)
    }

    /// How often a rename is tried.
    private static let attempts = 1000
}

import Glibc

extension DurableDirectory {
    /// Removes a file, and the folders on the way to it that become empty; `false` if there was none.
    ///
    /// When this returns, the file stays away, also if it was `false`: someone else may have removed the file and not
    /// made that durable.
    ///
    /// - Throws: `DurableChangeError`, whose outcome says what holds now; `FileKindError` if something else than a
    ///   regular file has the name.
    package func remove(_ path: RelativePath) throws -> Bool {
        try change(.remove, path) {
            guard let folder = try descriptorForReading() else { return false }
            _ = try reopenIfReplaced(folder)
            var isRemoved = false
            if let parent = try parent(of: path, in: folder), try isRegular(path.name, in: parent.number) {
                isRemoved = unlinkat(parent.number, path.name.start, 0) == 0
                if !isRemoved {
                    let code = errno
                    guard code == ENOENT else {
                        let cause = failure(code, "remove", path.text)
                        // Removed all the same, by a disk or server that failed in the middle of it?
                        if code == EIO, try !isRegular(path.name, in: parent.number) {
                            throw unknown(.remove, path, cause)
                        }
                        throw cause
                    }
                }
            }
            do {
                try synchronizeNearest(path, folder)
            } catch let cause as SystemCallError {
                throw unknown(.remove, path, cause)
            }
            if isRemoved {
                // Durable or not: what is left of a path after a power loss is an empty folder.
                removeEmptyFolders(of: path, in: folder)
            }
            return isRemoved
        }
    }

    /// Synchronizes the innermost folder on the way that is there: if an inner one is gone, then its entry in the next
    /// one is what has to be durable.
    private func synchronizeNearest(_ path: RelativePath, _ folder: Int32) throws {
        for inner in path.folders.reversed() where try synchronize(inner, in: folder) { return }
        try synchronizeSelf(folder)
    }
}

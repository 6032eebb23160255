import Glibc

extension DurableDirectory {
    /// Removes a file and its parent folders that become empty; `false` if there was no file.
    ///
    /// When this returns, the file stays removed, even if the result is `false`: someone else may have removed the file
    /// without making that durable.
    ///
    /// - Throws: `DurableChangeError`, which states the outcome; `FileKindError` if the name belongs to something other
    ///   than a regular file.
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
                        // A failing disk or server may have removed it although it reported an error.
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
                // This need not be durable: at worst an empty folder is left after a power loss.
                removeEmptyFolders(of: path, in: folder)
            }
            return isRemoved
        }
    }

    /// Synchronizes the innermost existing parent folder: if an inner one is gone, its removal from the next one must
    /// become durable.
    private func synchronizeNearest(_ path: RelativePath, _ folder: Int32) throws {
        for inner in path.folders.reversed() where try synchronize(inner, in: folder) { return }
        try synchronizeSelf(folder)
    }
}

import Glibc

/// The immediate parent folder of a file: a directory, or one below it that is open as long as this value lives.
struct ParentFolder: ~Copyable {
    let number: Int32
    private let opened: Descriptor?

    init(_ directory: Int32) {
        number = directory
        opened = nil
    }

    init(_ opened: consuming Descriptor) {
        number = opened.number
        self.opened = consume opened
    }
}

extension DurableDirectory {
    /// The immediate parent folder of a file; `nil` if it or one above it is missing. Follows no symbolic link.
    func parent(of path: RelativePath, in folder: Int32) throws -> ParentFolder? {
        guard let inner = path.folders.last else { return ParentFolder(folder) }
        guard let opened = try openFolder(inner, in: folder) else { return nil }
        return ParentFolder(opened)
    }

    /// Creates the missing parent folders of a file.
    func makeFolders(of path: RelativePath, _ folder: Writable) throws {
        var parent = ParentFolder(folder.descriptor)
        for inner in path.folders {
            try FolderMaker.make(
                inner.name, in: parent.number, isShared: folder.isShared,
                at: FileLocation(directory: self, name: inner.path).description)
            guard let opened = try openFolder(inner, in: folder.descriptor) else {
                throw failure(ENOENT, "open the folder", inner.path)
            }
            parent = ParentFolder(opened)
        }
    }

    /// Removes the empty parent folders of a file.
    func removeEmptyFolders(of path: RelativePath, in folder: Int32) {
        for (index, inner) in path.folders.enumerated().reversed() {
            var above: Descriptor?
            if index > 0 {
                above = try? openFolder(path.folders[index - 1], in: folder)
                if above == nil { return }
            }
            guard unlinkat(above?.number ?? folder, inner.name.start, AT_REMOVEDIR) == 0 else { return }
        }
    }

    /// Makes the entries of a file's parent folder durable; `false` if the folder is gone.
    func synchronize(_ inner: RelativePath.Folder, in folder: Int32) throws -> Bool {
        do {
            let location = FileLocation(directory: self, name: inner.path)
            try FolderMaker.synchronize(inner.path.start, in: folder, at: location.description, isOwn: true)
            return true
        } catch let error as SystemCallError where error.code == ENOENT {
            return false
        }
    }

    private func openFolder(_ inner: RelativePath.Folder, in folder: Int32) throws -> Descriptor? {
        let flags = Descriptor.pathOnly | O_DIRECTORY
        if let opened = Descriptor(Descriptor.openBelow(inner.path.start, in: folder, flags)) { return opened }
        let code = errno
        if code == ENOENT { return nil }
        throw failure(code, "open the folder", inner.path)
    }
}

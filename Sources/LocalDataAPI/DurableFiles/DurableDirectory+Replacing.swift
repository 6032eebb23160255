import Glibc
import LocalDataPluginAPI

extension DurableDirectory {
    /// Replaces or creates a file with `bytes` as its whole content.
    ///
    /// A reader finds the whole old content or the whole new one. When this returns, the new content is on the disk.
    ///
    /// - Parameter published: Called with the identity of the file that now has the name.
    /// - Throws: `StorageError`, which states the outcome; also if the name belongs to something other than a regular
    ///   file.
    public func replace(
        _ path: RelativePath, attribute: FileAttribute? = nil, with bytes: UnsafeRawBufferPointer,
        published: (FileIdentity) -> Void = { _ in }
    ) throws {
        published(
            try replace(path, attribute, isRepeatable: { true }) { file in
                try file.write(bytes)
                return Checksum(of: bytes)
            })
    }

    /// Replaces or creates a file with the content that `source` passes to its argument piece by piece, through a
    /// buffer of 256 KiB. Nothing is visible before the source returns; if it throws, the old content stays.
    ///
    /// - Parameters:
    ///   - written: Called with the file once its content is complete, before it gets its name.
    ///   - published: Called with the identity of the file that now has the name.
    /// - Throws: What the source throws; otherwise as ``replace(_:attribute:with:published:)``.
    public func replace(
        _ path: RelativePath, attribute: FileAttribute? = nil,
        from source: (_ take: (RawSpan) throws -> Void) throws -> Void,
        written: (borrowing OpenFile) throws -> Void = { _ in }, published: (FileIdentity) -> Void = { _ in }
    ) throws {
        var isSourceUsed = false
        let identity = try replace(path, attribute, isRepeatable: { !isSourceUsed }) { file in
            isSourceUsed = true
            let buffer = PieceBuffer()
            try source { try buffer.append($0, to: file) }
            let content = try buffer.finish(to: file)
            try written(file)
            return content
        }
        published(identity)
    }

    /// Replaces a file. Tries again if its folder or the temporary file was deleted meanwhile.
    ///
    /// - Parameter fill: Writes the content and returns its checksum for the attribute.
    @discardableResult
    func replace(
        _ path: RelativePath, _ attribute: FileAttribute?, isRepeatable: () -> Bool,
        filledBy fill: (borrowing OpenFile) throws -> Checksum
    ) throws -> FileIdentity {
        var attempt = 1
        while true {
            do {
                return try replaceOnce(path, attribute, fill)
            } catch let error as StorageError {
                guard error.cause == .systemCall(ENOENT), attempt < Self.attempts, isRepeatable() else {
                    throw error.failing(.replace, of: location(of: path))
                }
                attempt += 1
            }
        }
    }

    private func replaceOnce(
        _ path: RelativePath, _ attribute: FileAttribute?, _ fill: (borrowing OpenFile) throws -> Checksum
    ) throws -> FileIdentity {
        let folder = try folderForWriting()
        _ = try isRegular(path, in: folder.descriptor)
        var temporary = try TemporaryFile(for: path, in: self, folder)
        let content = try fill(temporary.file)
        if let attribute { try temporary.file.setAttribute(attribute, of: content) }
        try temporary.file.synchronize()
        try publish(&temporary, as: path, folder)
        do {
            try synchronizeAll(path, folder.descriptor)
        } catch {
            throw error.afterChange(.replace, of: location(of: path))
        }
        return temporary.identity
    }

    /// Renames, and recreates parent folders each time that someone who removes a file there removes them.
    private func publish(
        _ temporary: inout TemporaryFile, as path: RelativePath, _ folder: Writable
    ) throws(StorageError) {
        for _ in 0..<Self.publications {
            if let parent = try parent(of: path, in: folder.descriptor),
                try temporary.publish(as: path, in: parent)
            {
                return
            }
            do {
                try makeFolders(of: path, folder)
            } catch let error where error.systemError == ENOENT {
                continue
            }
        }
        throw failure(EBUSY, "create the folder of", path.text)
    }

    /// Makes the entries of a file and of all its parent folders durable: another thread may have created them and not
    /// synchronized yet. A missing folder has been emptied since, by someone who makes that durable.
    private func synchronizeAll(_ path: RelativePath, _ folder: Int32) throws(StorageError) {
        for inner in path.folders.reversed() { _ = try synchronize(inner, in: folder) }
        try synchronizeSelf(folder)
    }

    func synchronizeSelf(_ folder: Int32) throws(StorageError) {
        guard Descriptor.synchronize(folder) != 0 else { return }
        let code = errno
        if code != EINVAL { throw StorageError(system: code, "synchronize the folder", path: self.path) }
    }

    /// The maximum number of attempts for a change.
    private static let attempts = 8
    /// The maximum number of attempts to rename.
    private static let publications = 1000
}

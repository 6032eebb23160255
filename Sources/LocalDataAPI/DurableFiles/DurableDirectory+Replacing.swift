import Glibc

extension DurableDirectory {
    /// Replaces a file, or makes it, with `bytes` as its whole content.
    ///
    /// A reader finds the old content or the new, whole. When this returns, the new content is on the disk.
    ///
    /// - Parameter published: Called with which file has the name now.
    /// - Throws: `DurableChangeError` (its outcome says what holds now) for a failed system call; `FileKindError` if
    ///   something else than a regular file has the name.
    package func replace(
        _ path: RelativePath, attribute: FileAttribute? = nil, with bytes: UnsafeRawBufferPointer,
        published: (FileIdentity) -> Void = { _ in }
    ) throws {
        published(
            try replace(path, attribute, isRepeatable: { true }) { file in
                try file.write(bytes)
                return Checksum(of: bytes)
            })
    }

    /// Replaces a file, or makes it, with the content that `source` gives to its argument piece by piece, through
    /// a buffer of 256 KiB. Nothing is visible before the source returns; if it throws, the old content stands.
    ///
    /// - Parameters:
    ///   - written: Called with the file once its content is complete, before it gets its name.
    ///   - published: Called with which file has the name now.
    /// - Throws: What the source throws; the rest as ``replace(_:attribute:with:published:)``.
    package func replace(
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

    /// Runs one change, and says of a system call that failed before it took effect that nothing has changed.
    func change<Result>(
        _ change: DurableChangeError.Change, _ path: RelativePath, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let cause as SystemCallError {
            let location = FileLocation(directory: self, name: path.text)
            throw DurableChangeError(change, path: location.description, outcome: .unchanged, cause: cause)
        }
    }

    /// A change that took effect, and may not be on the disk.
    func unknown(
        _ change: DurableChangeError.Change, _ path: RelativePath, _ cause: SystemCallError
    ) -> DurableChangeError {
        let location = FileLocation(directory: self, name: path.text)
        return DurableChangeError(change, path: location.description, outcome: .durabilityUnknown, cause: cause)
    }

    /// Replaces a file; again if its folder or the temporary file was deleted meanwhile.
    ///
    /// - Parameter fill: Writes the content, and gives its checksum for the attribute.
    @discardableResult
    func replace(
        _ path: RelativePath, _ attribute: FileAttribute?, isRepeatable: () -> Bool,
        filledBy fill: (borrowing OpenFile) throws -> Checksum
    ) throws -> FileIdentity {
        var attempt = 1
        while true {
            do {
                return try change(.replace, path) { try replaceOnce(path, attribute, fill) }
            } catch let error as DurableChangeError
                where error.cause.code == ENOENT && error.outcome == .unchanged && attempt < Self.attempts
                && isRepeatable()
            {
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
        do {
            try publish(&temporary, as: path, folder)
        } catch let error as PublishedAnyway {
            throw unknown(.replace, path, error.cause)
        }
        do {
            try synchronizeAll(path, folder.descriptor)
        } catch let cause as SystemCallError {
            throw unknown(.replace, path, cause)
        }
        return temporary.identity
    }

    /// Renames, and makes the folders on the way as often as someone who removes a file there takes them away.
    private func publish(
        _ temporary: inout TemporaryFile, as path: RelativePath, _ folder: Writable
    ) throws {
        for _ in 0..<Self.publications {
            if let parent = try parent(of: path, in: folder.descriptor),
                try temporary.publish(as: path, in: parent)
            {
                return
            }
            do {
                try makeFolders(of: path, folder)
            } catch let error as SystemCallError where error.code == ENOENT {
                continue
            }
        }
        throw failure(EBUSY, "create the folder of", path.text)
    }

    /// Makes the entry of a file durable, and those of all folders on the way: another thread may have made them and
    /// not got further. A folder that is gone was emptied since, by someone who makes that durable.
    private func synchronizeAll(_ path: RelativePath, _ folder: Int32) throws {
        for inner in path.folders.reversed() { _ = try synchronize(inner, in: folder) }
        try synchronizeSelf(folder)
    }

    func synchronizeSelf(_ folder: Int32) throws {
        guard Descriptor.synchronize(folder) != 0 else { return }
        let code = errno
        if code != EINVAL { throw SystemCallError(code, "synchronize the folder", path: self.path) }
    }

    /// How often a change starts over.
    private static let attempts = 8
    /// How often a rename is tried.
    private static let publications = 1000
}

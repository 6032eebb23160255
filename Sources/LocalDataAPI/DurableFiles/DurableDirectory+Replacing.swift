import Glibc

extension DurableDirectory {
    /// Replaces a file, or makes it, with `bytes` as its whole content.
    ///
    /// A reader finds the old content or the new, whole. When this returns, the new content is on the disk.
    ///
    /// - Throws: `DurableChangeError` (its outcome says what holds now) for a failed system call; `FileKindError` if
    ///   something else than a regular file has the name.
    package func replace(
        _ path: RelativePath, attribute: FileAttribute? = nil, with bytes: UnsafeRawBufferPointer
    ) throws {
        try replace(path, attribute, isRepeatable: { true }, filledBy: { try $0.write(bytes) })
    }

    /// Replaces a file, or makes it, with the content that `source` gives to its argument piece by piece, through
    /// a buffer of 256 KiB. Nothing is visible before the source returns; if it throws, the old content stands.
    ///
    /// - Throws: What the source throws; the rest as ``replace(_:attribute:with:)``.
    package func replace(
        _ path: RelativePath, attribute: FileAttribute? = nil,
        from source: (_ take: (RawSpan) throws -> Void) throws -> Void
    ) throws {
        var isSourceUsed = false
        try replace(path, attribute, isRepeatable: { !isSourceUsed }) { file in
            isSourceUsed = true
            let buffer = PieceBuffer()
            try source { try buffer.append($0, to: file) }
            try buffer.finish(to: file)
        }
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

    /// Makes one folder below this one, unless it is there.
    func makeFolder(_ name: CString, _ folder: Writable) throws {
        try FolderMaker.make(
            name, in: folder.descriptor, isShared: folder.isShared,
            at: FileLocation(directory: self, name: name).description)
    }

    /// Replaces a file; again if its folder or the temporary file was deleted meanwhile.
    func replace(
        _ path: RelativePath, _ attribute: FileAttribute?, isRepeatable: () -> Bool,
        filledBy fill: (borrowing OpenFile) throws -> Void
    ) throws {
        for attempt in 1...Self.attempts {
            do {
                return try change(.replace, path) { try replaceOnce(path, attribute, fill) }
            } catch let error as DurableChangeError
                where error.cause.code == ENOENT && error.outcome == .unchanged && attempt < Self.attempts
                && isRepeatable()
            {
                continue
            }
        }
    }

    private func replaceOnce(
        _ path: RelativePath, _ attribute: FileAttribute?, _ fill: (borrowing OpenFile) throws -> Void
    ) throws {
        let folder = try folderForWriting()
        _ = try isRegular(path.text, in: folder.descriptor)
        var temporary = try TemporaryFile(in: self, folder)
        try fill(temporary.file)
        if let attribute { try temporary.file.setAttribute(attribute) }
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
    }

    /// Renames, and makes the folders on the way as often as someone who removes a file there takes them away.
    private func publish(
        _ temporary: inout TemporaryFile, as path: RelativePath, _ folder: Writable
    ) throws {
        for _ in 0..<Self.publications {
            if try temporary.publish(as: path) { return }
            do {
                for name in path.folders { try makeFolder(name, folder) }
            } catch let error as SystemCallError where error.code == ENOENT {
                continue
            }
        }
        throw failure(EBUSY, "create the folder of", path.text)
    }

    /// Makes the entry of a file durable, and those of all folders on the way: another thread may have made them and
    /// not got further. A folder that is gone was emptied since, by someone who makes that durable.
    private func synchronizeAll(_ path: RelativePath, _ folder: Int32) throws {
        for name in path.folders.reversed() {
            do {
                let location = FileLocation(directory: self, name: name)
                try FolderMaker.synchronize(name, in: folder, at: location.description, isOwn: true)
            } catch let error as SystemCallError where error.code == ENOENT {
                continue
            }
        }
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

import CLinux
import Glibc
public import LocalDataPluginAPI

/// Files that are written at their end and read from any place, such as logs.
extension DurableDirectory {
    /// Creates a file of this folder that must not exist, for ``OpenFile/write(_:at:)``. Its name is durable after
    /// ``synchronizeEntries()``.
    ///
    /// - Throws: `StorageError`.
    public func create(_ path: RelativePath) throws(StorageError) -> OpenFile {
        let folder = try folderForWriting()
        let location = FileLocation(directory: self, name: path.text)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        guard let descriptor = Descriptor(Descriptor.open(path.name.start, in: folder.descriptor, flags, mode: 0o600))
        else { throw StorageError(system: errno, "create", path: location.description) }
        let file = OpenFile(descriptor, at: location)
        do throws(StorageError) {
            if folder.isShared { try file.setPermissions(0o660) }
            try file.check(self, isShared: folder.isShared)
        } catch {
            unlinkat(folder.descriptor, path.name.start, 0)
            throw error
        }
        return file
    }

    /// Removes a file of this folder, if it exists; durable after ``synchronizeEntries()``.
    ///
    /// - Throws: `StorageError`.
    public func removeEntry(_ path: RelativePath) throws(StorageError) {
        guard let folder = try descriptorForReading() else { return }
        guard unlinkat(folder, path.name.start, 0) != 0 else { return }
        let code = errno
        if code != ENOENT { throw failure(code, "remove", path.text) }
    }

    /// Makes created and removed entries of this folder durable.
    ///
    /// - Throws: `StorageError`.
    public func synchronizeEntries() throws(StorageError) {
        guard let folder = try descriptorForReading() else { return }
        try synchronizeSelf(folder)
    }
}

extension OpenFile {
    /// Reads bytes from an offset until the buffer is full or the file ends.
    ///
    /// - Returns: The number of bytes.
    /// - Throws: `StorageError`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(StorageError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), from: offset + filled)
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Writes all bytes at an offset.
    ///
    /// - Throws: `StorageError`; part of the bytes may be in the file.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(descriptor.number, rest.baseAddress, rest.count, off_t(offset + written))
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw failure(count == 0 ? EIO : errno, "write")
            }
        }
    }

    /// Makes the content durable, and of the file's status what reading needs; see fdatasync(2).
    ///
    /// - Throws: `StorageError`.
    public func synchronizeContent() throws(StorageError) {
        while fdatasync(descriptor.number) != 0 {
            let code = errno
            if code != EINTR { throw failure(code, "synchronize") }
        }
    }

    /// Cuts the file off.
    ///
    /// - Throws: `StorageError`.
    public func truncate(to size: Int) throws(StorageError) {
        while ftruncate(descriptor.number, off_t(size)) != 0 {
            let code = errno
            if code != EINTR { throw failure(code, "set the size of") }
        }
    }
}

import Glibc

/// A new file without a final name yet, in the `.tmp` folder of a directory. It goes away with its owner unless it is
/// published.
///
/// Its lock (flock(2)) says that its owner lives: a cleaner in this or another process removes only what it can lock.
/// A cleaner may come between the making of the file and its locking. Then either the lock is not to be had, or the
/// file has lost its name by the time it is locked; both are noticed here, and another file is made. Once the lock is
/// held on a file with a name, no cleaner touches it.
struct TemporaryFile: ~Copyable {
    /// The folder for such files, below the directory.
    static let folder = CString(".tmp".utf8)

    let file: OpenFile
    private let folder: Int32
    private var isPublished = false

    /// Makes a file.
    ///
    /// - Throws: `SystemCallError`, with `ENOENT` if the directory itself is gone.
    init(in directory: DurableDirectory, _ writable: DurableDirectory.Writable) throws {
        folder = writable.descriptor
        for _ in 0..<Self.attempts {
            let name = Self.newName()
            let location = FileLocation(directory: directory, name: name)
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            guard let descriptor = Descriptor(Descriptor.open(name.start, in: folder, flags, mode: 0o600)) else {
                switch errno {
                case EEXIST: continue
                case ENOENT:
                    try directory.makeFolder(Self.folder, writable)
                    continue
                case let code:
                    // A file whose making is reported as failed may have been made all the same.
                    unlinkat(folder, name.start, 0)
                    throw SystemCallError(code, "create", path: location.description)
                }
            }
            if flock(descriptor.number, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                unlinkat(folder, name.start, 0)
                continue
            }
            let file = OpenFile(descriptor, at: location)
            guard try file.status().isLinked else { continue }
            if writable.isShared, fchmod(file.descriptor.number, 0o660) != 0 {
                let code = errno
                unlinkat(folder, name.start, 0)
                throw file.failure(code, "set the mode of")
            }
            self.file = file
            return
        }
        throw SystemCallError(EBUSY, "create a file in", path: "\(directory.path)/\(Self.folder)")
    }

    deinit {
        if !isPublished { unlinkat(folder, file.location.name.start, 0) }
    }

    /// Gives the file its final name, in place of what has it.
    ///
    /// - Returns: `false` if the folder of the final name is missing.
    /// - Throws: `SystemCallError`, with `ENOENT` if this file itself is gone.
    mutating func publish(as path: RelativePath) throws -> Bool {
        if renameat(folder, file.location.name.start, folder, path.text.start) == 0 {
            isPublished = true
            return true
        }
        let code = errno
        if code == ENOENT, !path.folders.isEmpty, try file.status().isLinked { return false }
        let target = FileLocation(directory: file.location.directory, name: path.text)
        // A rename that fails may have been made all the same, on a disk or server that fails in the middle of it: then
        // the temporary name is gone.
        if faccessat(folder, file.location.name.start, F_OK, AT_SYMLINK_NOFOLLOW) != 0, errno == ENOENT, code == EIO {
            isPublished = true
            throw PublishedAnyway(
                cause: SystemCallError(code, "rename", path: file.location.description, to: target.description))
        }
        throw SystemCallError(code, "rename", path: file.location.description, to: target.description)
    }

    /// A name that is never used twice, so that whoever holds an old one cannot mean a new file by it.
    private static func newName() -> CString {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return CString("\(folder)/\(digits)".utf8)
    }

    private static let attempts = 100
}

/// A rename was made although the system reported that it failed.
struct PublishedAnyway: Error {
    let cause: SystemCallError
}

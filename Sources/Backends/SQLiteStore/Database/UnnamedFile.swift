import CLinux
import DurableFiles
import Glibc
import LocalDataPluginAPI

/// A file without a name, which disappears with its owner unless it is given one. Mode 0600, or 0660 in a folder that
/// belongs to a group (set-group-ID and writable for it).
struct UnnamedFile: ~Copyable {
    private let descriptor: Int32
    private let folder: String
    /// Its name on file systems that do not support unnamed files.
    private let temporary: String?

    private init(_ descriptor: Int32, in folder: String, temporary: String?) {
        self.descriptor = descriptor
        self.folder = folder
        self.temporary = temporary
    }

    /// Creates one on the file system of a folder.
    static func make(in folder: String) throws -> UnnamedFile {
        var opened = open(folder, unnamed | O_RDWR | O_CLOEXEC, 0o600)
        var temporary: String?
        if opened < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT {
            (opened, temporary) = makeNamed(in: folder)
        }
        guard opened >= 0 else { throw StorageError.system(errno, "create a file in '\(folder)'") }
        let file = UnnamedFile(opened, in: folder, temporary: temporary)
        var status = stat()
        let isShared = stat(folder, &status) == 0 && FolderMaker.isOfGroup(status.st_mode)
        if isShared, fchmod(opened, 0o660) != 0, errno != EPERM {
            throw StorageError.system(errno, "set the mode of a file in '\(folder)'")
        }
        guard fstat(opened, &status) == 0 else { throw StorageError.system(errno, "inspect a file in '\(folder)'") }
        try NewFileRule.secret.check(status, isShared: isShared, in: Self.shown(folder))
        return file
    }

    /// - Throws: `storeUnavailable` if the file system has no locks, which a database needs.
    borrowing func checkLocks() throws { try OpenFileLock.check(descriptor, in: Self.shown(folder)) }

    /// Creates one with a name. Its lock shows that its owner lives: without it, the next process removes the file. A
    /// process that comes before the file is locked is noticed: then the lock is taken, or the file has lost its name.
    ///
    /// - Returns: A descriptor below 0 and `errno` on failure, as when the file system has no locks.
    private static func makeNamed(in folder: String) -> (Int32, String?) {
        for _ in 0..<attempts {
            let chosen = "\(folder)/\(prefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
            let opened = open(chosen, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard opened >= 0 else {
                if errno == EEXIST { continue }
                return (opened, nil)
            }
            var status = stat()
            let isLocked = flock(opened, LOCK_EX | LOCK_NB) == 0
            let code = isLocked ? EBUSY : errno
            if isLocked, fstat(opened, &status) == 0, status.st_nlink > 0 { return (opened, chosen) }
            unlink(chosen)
            close(opened)
            errno = code
            guard isLocked || code == EWOULDBLOCK else { break }
        }
        return (-1, nil)
    }

    /// Removes leftovers of dead processes in a folder on a file system without unnamed files.
    static func removeAbandoned(in folder: String) {
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        // Other file systems support unnamed files.
        guard FileSystemKind(of: dirfd(entries)) == .other else { return }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix) else { continue }
            let file = openat(dirfd(entries), name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlinkat(dirfd(entries), name, 0) }
            _ = close(file)
        }
    }

    private static let prefix = ".localdata-"
    private static let attempts = 100

    deinit {
        if let temporary { unlink(temporary) }
        _ = close(descriptor)
    }

    /// Appends bytes.
    borrowing func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw StorageError.system(errno, "write a file in '\(folder)'") }
            rest = rest.dropFirst(written)
        }
    }

    /// Fills a buffer from an offset; returns the number of bytes.
    borrowing func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var count = 0
        while count < buffer.count {
            let got = pread(
                descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(offset + count))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw StorageError.system(errno, "read a file in '\(folder)'") }
            if got == 0 { break }
            count += got
        }
        return count
    }

    /// Makes the content durable.
    borrowing func synchronize() throws {
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { throw StorageError.system(errno, "synchronize a file in '\(folder)'") }
        }
    }

    /// Gives the file a name, unless another file has it.
    consuming func publish(as path: String) throws {
        guard let temporary else {
            if linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0, errno != EEXIST
            {
                throw StorageError.system(errno, "create '\(Self.shown(path))'")
            }
            return
        }
        // Not by a second name: there may be no hard links, or the file may seem to have two for a while.
        if ld_linux_rename_new(temporary, path) == 0 || errno == EEXIST { return }
        guard errno == EINVAL || errno == ENOSYS else {
            throw StorageError.system(errno, "create '\(Self.shown(path))'")
        }
        // The file system does not know such a call; of those that use this one, one is first.
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if parent >= 0 { close(parent) } }
        while parent >= 0, flock(parent, LOCK_EX) != 0, errno == EINTR {}
        var status = stat()
        if lstat(path, &status) == 0 { return }
        guard errno == ENOENT, rename(temporary, path) == 0 else {
            throw StorageError.system(errno, "create '\(Self.shown(path))'")
        }
    }

    /// A path for people: one through an open folder says nothing to them.
    private static func shown(_ path: String) -> String {
        guard path.hasPrefix("/proc/self/fd/") else { return path }
        let names = path.split(separator: "/", maxSplits: 4)
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(names[3])", &buffer, buffer.count)
        guard count > 0 else { return path }
        let folder = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return names.count > 4 ? "\(folder)/\(names[4])" : folder
    }

    /// `O_TMPFILE` of open(2), which Swift does not import.
    private static let unnamed: Int32 = 0o20000000 | O_DIRECTORY
}

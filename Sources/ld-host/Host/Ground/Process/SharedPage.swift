internal import Glibc
internal import Synchronization

/// Memory that all programs of a user share, as long as the machine runs: `/dev/shm/localdata-UID`. It begins with
/// zeros. Where it cannot be had, each program has its own.
package final class SharedPage: Sendable {
    /// The page of the programs of this user.
    package static let ofUser = SharedPage(in: "/dev/shm")

    /// Its size in bytes.
    static let size = 256 << 10

    // The memory stays mapped, and what is in it is atomic.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer
    /// The open file; `nil` for a page of this program's own.
    private let file: CInt?
    /// Its path.
    package let path: String

    /// Maps the page of a folder in memory.
    init(in folder: String) {
        path = "\(folder)/localdata-\(geteuid())"
        if let (file, page) = Self.shared(path) {
            (self.file, start) = (file, page)
        } else {
            (file, start) = (nil, Self.own)
        }
    }

    /// Whether other programs have the same memory.
    package var isShared: Bool { file != nil }

    /// What lies at an offset.
    @inline(__always)
    func content<Content: ~Copyable>(at offset: Int, as type: Content.Type) -> UnsafeMutablePointer<Content> {
        (start + offset).assumingMemoryBound(to: type)
    }

    /// Takes the lock of one of its bytes for this process, which ends with the process; `false` if another process has
    /// it. Never waits.
    ///
    /// - Parameter shared: Whether other processes may take it, too, in this way.
    func take(byte: Int, shared: Bool = false) -> Bool {
        guard let file else { return true }
        var lock = Self.lock(shared ? F_RDLCK : F_WRLCK, byte)
        return fcntl(file, Self.setLock, &lock) == 0
    }

    /// Gives up the lock of a byte.
    func letGo(byte: Int) {
        guard let file else { return }
        var lock = Self.lock(F_UNLCK, byte)
        _ = fcntl(file, Self.setLock, &lock)
    }

    /// Whether another process has the lock of a byte.
    func isTakenByOther(byte: Int) -> Bool {
        guard let file else { return false }
        var lock = Self.lock(F_WRLCK, byte)
        return fcntl(file, Self.getLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// `F_OFD_GETLK` and `F_OFD_SETLK`, which Swift does not import.
    private static let (getLock, setLock) = (CInt(36), CInt(37))

    private static func lock(_ type: CInt, _ byte: Int) -> flock {
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(type), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (off_t(byte), 1)
        return lock
    }

    /// The page that other programs map, too; `nil` if it cannot be had.
    private static func shared(_ path: String) -> (CInt, UnsafeMutableRawPointer)? {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { return nil }
        var status = stat()
        // Anybody may make a file of this name first. Memory that is not there when the page is written would end the
        // program.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0, posix_fallocate(file, 0, off_t(size)) == 0,
            let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), page != MAP_FAILED
        else {
            close(file)
            return nil
        }
        return (file, page)
    }

    private static var own: UnsafeMutableRawPointer {
        let page = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        return page
    }
}

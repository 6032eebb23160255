import CLinux
import Glibc

/// A file descriptor that is closed with its owner.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes over an open descriptor; `nil` for a negative number, with `errno` as it was.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit { _ = close(number) }

    /// Gives the descriptor to someone else to close.
    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// openat(2), again when a signal interrupts it. Never blocks on what it opens, and no child process gets it.
    static func open(_ path: UnsafePointer<CChar>, in directory: Int32, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
        while true {
            let opened = openat(directory, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode)
            if opened >= 0 || errno != EINTR { return opened }
        }
    }

    /// Opens what stands below a folder, and follows no symbolic link, in the middle of the path neither: `ELOOP` or
    /// `ENOTDIR` for one. As ``open(_:in:_:mode:)`` otherwise; creates nothing.
    static func openBelow(_ path: UnsafePointer<CChar>, in directory: Int32, _ flags: Int32) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NOFOLLOW | (flags & pathOnly != 0 ? 0 : O_NONBLOCK | O_NOCTTY)
        for _ in 0..<attempts {
            let opened = ld_linux_open_without_links(directory, path, flags)
            if opened >= 0 { return opened }
            switch errno {
            // EAGAIN: something was renamed meanwhile, and the kernel cannot tell what that means for the path.
            case EINTR, EAGAIN: continue
            case ENOSYS, EPERM: return openStepwise(path, in: directory, flags)
            default: return -1
            }
        }
        return openStepwise(path, in: directory, flags)
    }

    /// The same, folder by folder, where the system has no call for it.
    private static func openStepwise(_ path: UnsafePointer<CChar>, in directory: Int32, _ flags: Int32) -> Int32 {
        let bytes = UnsafeRawBufferPointer(start: path, count: strlen(path))
        var names = bytes.split(separator: UInt8(ascii: "/")).map { CString($0) }
        guard let last = names.popLast() else { return open(path, in: directory, flags) }
        var folder: Descriptor?
        if directory == AT_FDCWD {
            folder = Descriptor(open("/", in: AT_FDCWD, pathOnly | O_DIRECTORY))
            if folder == nil { return -1 }
        }
        for name in names {
            let next = open(name.start, in: folder?.number ?? directory, pathOnly | O_DIRECTORY | O_NOFOLLOW)
            folder = Descriptor(next)
            if folder == nil { return -1 }
        }
        return open(last.start, in: folder?.number ?? directory, flags)
    }

    private static let attempts = 16

    /// fsync(2), again when a signal interrupts it.
    static func synchronize(_ number: Int32) -> Int32 {
        while true {
            let result = fsync(number)
            if result == 0 || errno != EINTR { return result }
        }
    }

    /// `O_PATH` of open(2), which Swift does not show: the descriptor only says where a folder is, and needs no right
    /// to read it.
    static let pathOnly: Int32 = 0o10000000
}

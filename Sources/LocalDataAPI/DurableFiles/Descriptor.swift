import CLinux
import Glibc

/// A file descriptor that is closed with its owner.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes ownership of an open descriptor; `nil` for a negative number, leaving `errno` as it was.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit { _ = close(number) }

    /// Releases the descriptor to the caller, who must close it.
    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// openat(2), retried when a signal interrupts it. Never blocks on the opened file, and no child process inherits
    /// it.
    static func open(_ path: UnsafePointer<CChar>, in directory: Int32, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
        while true {
            let opened = openat(directory, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode)
            if opened >= 0 || errno != EINTR { return opened }
        }
    }

    /// Opens a file below a folder without following symbolic links, not even in the middle of the path: fails with
    /// `ELOOP` or `ENOTDIR` for one. Otherwise like ``open(_:in:_:mode:)``; creates nothing.
    static func openBelow(_ path: UnsafePointer<CChar>, in directory: Int32, _ flags: Int32) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NOFOLLOW | (flags & pathOnly != 0 ? 0 : O_NONBLOCK | O_NOCTTY)
        for _ in 0..<attempts {
            let opened = ld_linux_open_without_links(directory, path, flags)
            if opened >= 0 { return opened }
            switch errno {
            // EAGAIN: something was renamed meanwhile, and the kernel cannot resolve the path safely.
            case EINTR, EAGAIN: continue
            case ENOSYS, EPERM: return openStepwise(path, in: directory, flags)
            default: return -1
            }
        }
        return openStepwise(path, in: directory, flags)
    }

    /// The same, folder by folder, where the system lacks the call.
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

    /// fsync(2), retried when a signal interrupts it.
    static func synchronize(_ number: Int32) -> Int32 {
        while true {
            let result = fsync(number)
            if result == 0 || errno != EINTR { return result }
        }
    }

    /// `O_PATH` of open(2), which Swift does not import: the descriptor only identifies a folder, and needs no right to
    /// read it.
    static let pathOnly: Int32 = 0o10000000
}

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

    /// fsync(2), again when a signal interrupts it.
    static func synchronize(_ number: Int32) -> Int32 {
        while true {
            let result = fsync(number)
            if result == 0 || errno != EINTR { return result }
        }
    }

    /// `O_PATH` of open(2), which Swift does not show: the descriptor only says where a folder is, and needs no right to
    /// read it.
    static let pathOnly: Int32 = 0o10000000
}

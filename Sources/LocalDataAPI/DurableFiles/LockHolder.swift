import CLinux
import Glibc

/// A process that holds a lock on a file, as far as this process may see it.
public struct LockHolder: Hashable, Sendable {
    /// The process id.
    public let process: Int32
    /// Its command's name; `nil` if that is hidden. Printable ASCII only, since any process chooses its own.
    public let command: String?
    /// The user id of the process; `nil` if that is hidden.
    public let user: UInt32?

    /// The process that holds a lock of flock(2) or fcntl(2) on an open file; `nil` if the system does not list it. It
    /// lists no locks from other machines, and none of `F_OFD_SETLK`.
    public init?(of file: Int32) {
        var status = stat()
        guard fstat(file, &status) == 0, let locks = Self.text(of: "/proc/locks", atMost: 1 << 20) else { return nil }
        for line in locks.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 fd:01:1835066 0 EOF; a waiting process has "->" after the number.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] != "->", let process = Int32(words[4]), process > 0,
                Self.isNamed(words[5], status)
            else { continue }
            self.init(process: process)
            return
        }
        return nil
    }

    /// Whether a device and an inode, as in `fd:01:1835066`, are those of a file. A file system that shows its files
    /// with devices of their own, as Btrfs does, lists another device.
    private static func isNamed(_ text: Substring, _ status: stat) -> Bool {
        let parts = text.split(separator: ":")
        guard parts.count == 3, let major = UInt32(parts[0], radix: 16), let minor = UInt32(parts[1], radix: 16),
            UInt64(parts[2]) == UInt64(status.st_ino)
        else { return false }
        return major == 0 || ld_linux_device(major, minor) == UInt64(status.st_dev)
    }

    /// Looks a process up.
    private init(process: Int32) {
        self.process = process
        let name = Self.text(of: "/proc/\(process)/comm", atMost: 64) ?? ""
        let printable = name.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }
        command = printable.isEmpty ? nil : String(String.UnicodeScalarView(printable))
        var status = stat()
        user = stat("/proc/\(process)", &status) == 0 ? status.st_uid : nil
    }

    private static func text(of path: String, atMost most: Int) -> String? {
        guard let file = Descriptor(Descriptor.open(path, in: AT_FDCWD, O_RDONLY)) else { return nil }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < most {
            let count = read(file.number, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension LockHolder: CustomStringConvertible {
    /// For use in a sentence: `process 4711 ('ld-host', user 1000)`.
    public var description: String {
        let about = [command.map { "'\($0)'" }, user.map { "user \($0)" }].compactMap(\.self)
        return "process \(process)" + (about.isEmpty ? "" : " (\(about.joined(separator: ", ")))")
    }
}

/// Pauses between attempts to take a lock, since a blocking wait has no time limit. They grow and vary, so that among
/// many waiting processes none is always the last to try.
public struct LockPause: Sendable {
    private var next: UInt32
    private let longest: UInt32

    /// Pauses of about this many microseconds.
    public init(from shortest: UInt32, to longest: UInt32) {
        next = shortest
        self.longest = longest
    }

    /// Sleeps for the next pause.
    public mutating func take() {
        usleep(UInt32.random(in: next / 2...next))
        next = min(2 * next, longest)
    }
}

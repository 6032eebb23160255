internal import ByteCoding
internal import Glibc
internal import Synchronization

/// A number that all programs of a user on this machine share: it grows when one of them has changed a configuration
/// file, or has seen that somebody has. Whether a configuration still holds costs a program one load of it.
///
/// The page lies in memory (`/dev/shm/localdata-UID`), and begins at zero with the machine. Where it cannot be had,
/// each program has a number of its own, and learns of changes from its watch of the files alone.
package struct ConfigurationPage: @unchecked Sendable {
    // Safe to share: the page stays mapped, and its members are atomic.
    private struct Content: ~Copyable {
        let number = Atomic<UInt64>(0)
        /// The file, and what it was, that the number grew for at last.
        let mark = Atomic<UInt64>(0)
    }

    private let content: UnsafePointer<Content>

    /// The page of the programs of this user.
    package static let ofUser = ConfigurationPage(in: "/dev/shm")

    /// Maps the page of a folder in memory.
    init(in folder: String) {
        let page = Self.shared("\(folder)/localdata-\(geteuid())") ?? Self.own
        content = UnsafePointer(page.assumingMemoryBound(to: Content.self))
    }

    /// The number of the last change.
    @inline(__always)
    package var number: UInt64 { content.pointee.number.load(ordering: .acquiring) }

    /// Notes that this program has changed a file.
    package func note(_ file: String) {
        content.pointee.mark.store(Self.mark(of: file), ordering: .releasing)
        content.pointee.number.add(1, ordering: .acquiringAndReleasing)
    }

    /// Notes that somebody has changed a file; once for each state of the file, whoever sees it.
    func noteSeen(_ file: String) {
        let mark = Self.mark(of: file)
        guard content.pointee.mark.exchange(mark, ordering: .acquiringAndReleasing) != mark else { return }
        content.pointee.number.add(1, ordering: .acquiringAndReleasing)
    }

    private static func mark(of file: String) -> UInt64 {
        var status = stat()
        guard stat(file, &status) == 0 else { return StableHash.of([file]) }
        let time = status.st_ctim
        return StableHash.of(
            ["\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)", "\(time.tv_sec)", "\(time.tv_nsec)"])
    }

    private static let size = 4096

    /// The page that other programs map, too; `nil` if it cannot be had.
    private static func shared(_ path: String) -> UnsafeMutableRawPointer? {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        // Anybody may make a file of this name first.
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else { return nil }
        // Memory that is not there when the page is written would end the program.
        guard posix_fallocate(file, 0, off_t(size)) == 0 else { return nil }
        let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        return page == MAP_FAILED ? nil : page
    }

    private static var own: UnsafeMutableRawPointer {
        let page = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: size)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        return page
    }
}

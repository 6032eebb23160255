internal import ByteCoding
internal import Glibc
package import Synchronization

/// A number that all programs of a user on this machine share: it grows when one of them has changed a configuration
/// file, or has seen that somebody has. Whether a configuration still holds costs a program one load of it.
///
/// It is in the ``SharedPage``, and begins at zero with the machine. Where that cannot be had, each program has a
/// number of its own, and learns of changes from its watch of the files alone.
package struct ConfigurationPage: Sendable {
    // They stay mapped.
    /// Where the number is. Who loads it from here makes no call of another module.
    nonisolated(unsafe) package let place: UnsafePointer<Atomic<UInt64>>
    /// The file, and what it was, that the number grew for at last.
    nonisolated(unsafe) private let mark: UnsafePointer<Atomic<UInt64>>

    /// The number of the programs of this user.
    package static let ofUser = ConfigurationPage(.ofUser)

    init(_ page: SharedPage) {
        place = UnsafePointer(page.content(at: 0, as: Atomic<UInt64>.self))
        mark = UnsafePointer(page.content(at: 8, as: Atomic<UInt64>.self))
    }

    /// The number of the last change.
    package var number: UInt64 { place.pointee.load(ordering: .acquiring) }

    /// Notes that this program has changed a file.
    package func note(_ file: String) {
        mark.pointee.store(Self.mark(of: file), ordering: .releasing)
        place.pointee.add(1, ordering: .acquiringAndReleasing)
    }

    /// Notes that something may have changed that no file shows.
    func noteAnything() { place.pointee.add(1, ordering: .acquiringAndReleasing) }

    /// Notes that somebody has changed a file; once for each state of the file, however many programs see it.
    func noteSeen(_ file: String) {
        let seen = Self.mark(of: file)
        guard mark.pointee.exchange(seen, ordering: .acquiringAndReleasing) != seen else { return }
        place.pointee.add(1, ordering: .acquiringAndReleasing)
    }

    private static func mark(of file: String) -> UInt64 {
        var status = stat()
        guard stat(file, &status) == 0 else { return StableHash.of([file]) }
        let time = status.st_ctim
        return StableHash.of(
            ["\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)", "\(time.tv_sec)", "\(time.tv_nsec)"])
    }
}

import Glibc

/// A file descriptor that is closed when its owner goes away.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, valid as long as this value is.
    package let raw: CInt

    /// Takes over an open descriptor, or is nil for the -1 of a failed call; `errno` then is that call's.
    package init?(_ raw: CInt) {
        guard raw >= 0 else { return nil }
        self.raw = raw
    }

    deinit { close(raw) }
}

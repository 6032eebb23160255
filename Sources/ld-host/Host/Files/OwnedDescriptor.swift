import Glibc

/// A file descriptor that is closed with its owner.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, valid as long as this value is.
    package let raw: CInt

    /// Takes ownership of an open descriptor; `nil` for the -1 of a failed call, leaving its `errno`.
    package init?(_ raw: CInt) {
        guard raw >= 0 else { return nil }
        self.raw = raw
    }

    deinit { close(raw) }
}

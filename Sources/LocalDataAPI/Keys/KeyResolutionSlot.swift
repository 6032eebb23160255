import Synchronization

/// A host's cached resolutions of a key: a list that only grows at its head and is read without a lock.
///
/// A resolution lives as long as its key, so a reader never follows a dangling link. Resolving a key for another
/// configuration adds a link.
package final class KeyResolutionSlot: Sendable {
    /// A link in the list.
    package final class Link: @unchecked Sendable {
        // Safe to share: set before the slot's atomic publishes the object, and never changed later.
        fileprivate(set) package var next: Unmanaged<Link>?
        /// Identifies the snapshot that the key was resolved for.
        package let snapshot: UInt
        package let resolution: Unmanaged<AnyObject>

        fileprivate init(_ resolution: AnyObject, _ snapshot: UInt) {
            self.snapshot = snapshot
            self.resolution = .passRetained(resolution)
        }

        deinit { resolution.release() }
    }

    private let head = Atomic<UInt>(0)

    package init() {}

    deinit {
        var link = Self.unmanaged(head.load(ordering: .acquiring))
        while let current = link {
            link = current._withUnsafeGuaranteedRef { $0.next }
            current.release()
        }
    }

    /// The newest resolution for a snapshot. It is unmanaged, because threads that share a key would contend for its
    /// reference count. It is valid while this slot is alive.
    @inline(__always)
    package func resolution(for snapshot: UInt) -> Unmanaged<AnyObject>? {
        var link = Self.unmanaged(head.load(ordering: .acquiring))
        while let current = link {
            if current._withUnsafeGuaranteedRef({ $0.snapshot == snapshot }) {
                return current._withUnsafeGuaranteedRef { $0.resolution }
            }
            link = current._withUnsafeGuaranteedRef { $0.next }
        }
        return nil
    }

    /// Adds a resolution for a snapshot at the head.
    package func add(_ resolution: AnyObject, for snapshot: UInt) {
        let link = Unmanaged.passRetained(Link(resolution, snapshot))
        var expected = head.load(ordering: .acquiring)
        while true {
            link._withUnsafeGuaranteedRef { $0.next = Self.unmanaged(expected) }
            let (exchanged, original) = head.compareExchange(
                expected: expected, desired: UInt(bitPattern: link.toOpaque()), ordering: .acquiringAndReleasing)
            if exchanged { return }
            expected = original
        }
    }

    @inline(__always)
    private static func unmanaged(_ address: UInt) -> Unmanaged<Link>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }
}

internal import Synchronization

/// A host's cached resolution of a key: a link in the list that the key's slot holds. Hosts subclass it.
open class KeyResolution: @unchecked Sendable {
    // Safe to share: set before the slot's atomic publishes the object, and never changed later.
    fileprivate(set) package final var next: Unmanaged<KeyResolution>?
    /// Identifies the snapshot that the key was resolved for.
    package final let snapshot: UInt

    package init(snapshot: UInt) { self.snapshot = snapshot }
}

/// A key's cached resolutions: a list that only grows at its head and is read without a lock.
///
/// A resolution lives as long as its key, so a reader never follows a dangling link. Resolving a key for another
/// configuration adds a link.
package final class KeyResolutionSlot: Sendable {
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
    package func resolution(for snapshot: UInt) -> Unmanaged<KeyResolution>? {
        var link = Self.unmanaged(head.load(ordering: .acquiring))
        while let current = link {
            if current._withUnsafeGuaranteedRef({ $0.snapshot == snapshot }) { return current }
            link = current._withUnsafeGuaranteedRef { $0.next }
        }
        return nil
    }

    /// Adds a resolution at the head. Each is added once.
    package func add(_ resolution: KeyResolution) {
        let link = Unmanaged.passRetained(resolution)
        var expected = head.load(ordering: .acquiring)
        while true {
            resolution.next = Self.unmanaged(expected)
            let (exchanged, original) = head.compareExchange(
                expected: expected, desired: UInt(bitPattern: link.toOpaque()), ordering: .acquiringAndReleasing)
            if exchanged { return }
            expected = original
        }
    }

    @inline(__always)
    private static func unmanaged(_ address: UInt) -> Unmanaged<KeyResolution>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }
}

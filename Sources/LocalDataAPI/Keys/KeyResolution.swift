internal import Synchronization

/// What a host has found out about a key: a link in the chain that the key's slot holds. Hosts subclass it.
open class KeyResolution: @unchecked Sendable {
    // Safe to share: set before the object is published through the slot's atomic, and never changed after.
    fileprivate(set) package final var next: Unmanaged<KeyResolution>?
    /// What the key was resolved for; two that are equal are the same.
    package final let snapshot: UInt

    package init(snapshot: UInt) { self.snapshot = snapshot }
}

/// The place in a key where resolutions are kept: a list that only grows at its head, read without a lock.
///
/// A resolution lives as long as its key, so a reader never meets one that is gone; a key that is resolved for another
/// configuration gets one more link.
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

    /// The newest resolution for a snapshot. It is not counted, since threads that share a key would fight for the
    /// count; it is valid as long as this slot is kept alive.
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

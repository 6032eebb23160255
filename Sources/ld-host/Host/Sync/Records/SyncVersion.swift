internal import LocalDataAPI

/// When and by whom a value was written or removed. Of two versions the greater one wins on every device.
package struct SyncVersion: Hashable, Comparable, Sendable {
    /// Hybrid logical time: milliseconds since 1970 UTC in the upper 48 bits, a counter in the lower 16. Of a value
    /// that was there before its device joined the group only the milliseconds, so that it is less than all others.
    package let time: UInt64
    package let author: DeviceID

    package init(time: UInt64, author: DeviceID) { (self.time, self.author) = (time, author) }

    package static func < (left: SyncVersion, right: SyncVersion) -> Bool {
        (left.time, left.author) < (right.time, right.author)
    }

    /// Whether the value was there before its device joined the group.
    package var isFromBefore: Bool { time < 1 << 48 }
}

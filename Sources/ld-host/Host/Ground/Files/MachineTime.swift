internal import CLinux
internal import Glibc

/// A time of this machine, counted since its start, also while it sleeps.
package struct MachineTime: Sendable, Equatable {
    private let nanoseconds: UInt64

    package static var now: MachineTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MachineTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// How long ago it was.
    package var age: Duration { .nanoseconds(Int64(clamping: MachineTime.now.nanoseconds &- nanoseconds)) }
}

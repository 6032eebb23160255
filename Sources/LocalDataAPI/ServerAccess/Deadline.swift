public import Glibc

/// The end of a wait, on a clock that nobody can set.
public struct Deadline: Sendable {
    /// In nanoseconds of the monotonic clock.
    public let instant: Int64

    /// A deadline this many seconds from now.
    public init(seconds: Double) { instant = Self.now + Int64(min(max(0, seconds), 1e9) * 1e9) }

    private init(instant: Int64) { self.instant = instant }

    /// Whether the time is over.
    public var isOver: Bool { left <= 0 }

    /// The remaining time in nanoseconds; negative once it is over.
    public var left: Int64 { instant - Self.now }

    /// The remaining time for poll(2), rounded up.
    public var milliseconds: Int32 { Int32(clamping: max(0, (left + 999_999) / 1_000_000)) }

    /// The deadline as pthread_cond_timedwait(3) takes it for this clock.
    public var time: timespec { timespec(tv_sec: Int(instant / 1_000_000_000), tv_nsec: Int(instant % 1_000_000_000)) }

    /// The end of some of several equal parts of the remaining time.
    public func part(_ parts: Int = 1, of count: Int) -> Deadline {
        Deadline(instant: Self.now + max(0, left) / Int64(max(1, count)) * Int64(parts))
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

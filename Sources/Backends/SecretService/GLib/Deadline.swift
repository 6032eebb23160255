internal import CSecret

/// A time at which waiting ends, by a clock that nobody sets.
struct Deadline: Sendable {
    /// In microseconds of the monotonic clock.
    let instant: gint64

    /// A time from now on.
    init(seconds: Double) { instant = g_get_monotonic_time() + gint64(min(max(0, seconds), 1e9) * 1e6) }

    var isOver: Bool { g_get_monotonic_time() >= instant }

    /// What is left, at least one: D-Bus takes 0 and less for other things.
    var milliseconds: Int32 { Int32(clamping: max(1, (instant - g_get_monotonic_time() + 999) / 1000)) }
}

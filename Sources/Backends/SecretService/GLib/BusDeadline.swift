internal import CSecret

/// The end of a wait, on a clock that nobody can set.
struct BusDeadline: Sendable {
    /// In microseconds of the monotonic clock.
    let instant: gint64

    /// A deadline this many seconds from now.
    init(seconds: Double) { instant = g_get_monotonic_time() + gint64(min(max(0, seconds), 1e9) * 1e6) }

    var isOver: Bool { g_get_monotonic_time() >= instant }

    /// The remaining time, at least one: D-Bus gives other meanings to 0 and less.
    var milliseconds: Int32 { Int32(clamping: max(1, (instant - g_get_monotonic_time() + 999) / 1000)) }
}

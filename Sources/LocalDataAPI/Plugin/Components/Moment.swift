#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Moments in nanoseconds since 1970 UTC.
public enum Moment {
    /// The current one. After 2262-04-11, when 64 bits do not hold it any more, it is the last one that they hold.
    public static var now: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let (seconds, isTooLarge) = Int64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLate) = seconds.addingReportingOverflow(Int64(now.tv_nsec))
        return isTooLarge || isTooLate ? (now.tv_sec < 0 ? .min : .max) : sum
    }
}

internal import Glibc

/// Time by the monotonic clock.
enum Nanoseconds {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// The time of one of `count` equal steps.
    static func each(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
        let start = now
        try await body()
        return (now - start) / Double(count)
    }
}

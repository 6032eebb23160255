internal import LocalDataAPI

/// A hybrid logical clock: later than everything that the device has seen, and never behind its own wall clock.
///
/// A wall clock that is far beyond the present does no lasting harm. It is believed up to the end of the year 8999, and
/// another device's time little farther. Behind that, times grow by one with each change, so later changes still win.
///
/// - Note: S. Kulkarni et al., "Logical Physical Clocks", 2014.
package struct HybridClock: Sendable {
    /// The latest time that a version can have, the end of the year 9999.
    package static let latest: UInt64 = 253_402_300_799_999 << 16
    /// The latest time that a wall clock is believed, the end of the year 8999.
    static let latestWall: UInt64 = 221_845_391_999_999 << 16
    /// The latest time to which other devices can move the clock: more than the changes of all of them after
    /// ``latestWall`` come to.
    static let latestSeen = latestWall + 1 << 44

    private var last: UInt64
    private let wall: @Sendable () -> UInt64

    /// The wall clock's time, in milliseconds since 1970 UTC.
    package var now: UInt64 { wall() }

    package init(after last: UInt64 = 0, now: @escaping @Sendable () -> UInt64) { (self.last, wall) = (last, now) }

    /// The time of a value that was there before the device joined.
    ///
    /// - Parameter written: When it was written, in 65,536ths of a millisecond since 1970 UTC; `nil` if unknown.
    package func timeBefore(writtenAt written: UInt64? = nil) -> UInt64 {
        min(written.map { $0 >> 16 } ?? now, now, (1 << 48) - 1)
    }

    /// A time after all earlier ones.
    package mutating func tick() -> UInt64 {
        last = min(max(last + 1, min(now, Self.latestWall >> 16) << 16), Self.latest)
        return last
    }

    /// The time of a change that sync notices later than it was made: when it was made, if that is known and this
    /// device's clock is not behind the others'.
    ///
    /// - Parameters:
    ///   - written: The wall time of the change, in 65,536ths of a millisecond since 1970 UTC; `nil` if unknown.
    ///   - known: The latest time among the key's versions that this device knows.
    package mutating func time(ofChangeAt written: UInt64?, after known: UInt64) -> UInt64 {
        let isAhead = last > now << 16 | 0xffff
        let least = min(known + 1, Self.latest)
        let latest = max(tick(), least)
        guard let written, !isAhead else { return latest }
        return min(latest, max(least, written))
    }

    /// The latest time so far.
    package var latest: UInt64 { last }

    /// Takes notice of another device's time.
    package mutating func observe(_ time: UInt64) { last = max(last, min(time, Self.latestSeen)) }
}

extension ValueAttributes {
    /// When the store wrote the value, in 65,536ths of a millisecond since 1970 UTC.
    package var writtenAt: UInt64? {
        guard let modified, modified > 0 else { return nil }
        let (milliseconds, rest) = UInt64(modified).quotientAndRemainder(dividingBy: 1_000_000)
        return milliseconds << 16 | (rest << 16) / 1_000_000
    }
}

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

/// The versions of one key that a version has replaced, itself included: per author the latest. Values from before an
/// author joined count apart, since their times are of another kind.
package struct SyncHistory: Hashable, Sendable {
    /// The most versions; beyond that the earliest are forgotten, which at worst keeps a value too many.
    static let mostVersions = 256

    private struct Line: Hashable {
        let author: DeviceID
        let isFromBefore: Bool
    }

    private var times: [Line: UInt64] = [:]

    package init(_ versions: some Sequence<SyncVersion> = EmptyCollection()) { versions.forEach { add($0) } }

    /// The latest versions, in a fixed order.
    var versions: [SyncVersion] { times.map { SyncVersion(time: $0.value, author: $0.key.author) }.sorted() }

    /// Whether a version is among them.
    package func includes(_ version: SyncVersion) -> Bool {
        times[Self.line(version)].map { $0 >= version.time } ?? false
    }

    /// Whether a later version of the same author is among them.
    package func isPast(_ version: SyncVersion) -> Bool {
        times[Self.line(version)].map { $0 > version.time } ?? false
    }

    package mutating func add(_ version: SyncVersion) {
        if !includes(version) { times[Self.line(version)] = version.time }
        shorten()
    }

    package mutating func add(_ other: SyncHistory) {
        times.merge(other.times) { max($0, $1) }
        shorten()
    }

    private static func line(_ version: SyncVersion) -> Line {
        Line(author: version.author, isFromBefore: version.isFromBefore)
    }

    private mutating func shorten() {
        guard times.count > Self.mostVersions else { return }
        for version in versions.prefix(times.count - Self.mostVersions) { times[Self.line(version)] = nil }
    }
}

/// A hybrid logical clock: later than everything that the device has seen, and never behind its own wall clock.
///
/// - Note: S. Kulkarni et al., "Logical Physical Clocks", 2014.
package struct HybridClock: Sendable {
    /// The latest time that is believed, the end of the year 9999; no device's clock can move others beyond it.
    package static let latest: UInt64 = 253_402_300_799_999 << 16

    private var last: UInt64
    private let wall: @Sendable () -> UInt64

    /// The wall clock's time, in milliseconds since 1970 UTC.
    package var now: UInt64 { wall() }

    package init(after last: UInt64 = 0, now: @escaping @Sendable () -> UInt64) { (self.last, wall) = (last, now) }

    /// The time of a value that was there before the device joined.
    package func timeBefore() -> UInt64 { min(now, (1 << 48) - 1) }

    /// A time after all earlier ones.
    package mutating func tick() -> UInt64 {
        last = min(max(last + 1, now << 16), Self.latest)
        return last
    }

    /// The latest time so far.
    package var latest: UInt64 { last }

    /// Takes notice of another device's time.
    package mutating func observe(_ time: UInt64) { last = max(last, min(time, Self.latest)) }
}

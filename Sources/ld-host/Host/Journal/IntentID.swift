internal import CLinux
internal import Glibc
internal import Synchronization

/// Identifies an intent. Ids are unique across processes and ordered by their creation, as far as the machine's clock
/// only moves forward.
package struct IntentID: Hashable, Sendable {
    /// When the intent was begun, in nanoseconds since 1970 UTC.
    package let created: Int64
    /// Distinguishes intents of the same nanosecond.
    let random: UInt64

    init(created: Int64, random: UInt64) {
        self.created = created
        self.random = random
    }

    /// The id of an intent that begins now; later than all ids that this process has created.
    static func next() -> IntentID {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        let created = latest.withLock { latest in
            latest = max(latest &+ 1, now)
            return latest
        }
        return IntentID(created: created, random: .random(in: .min ... .max))
    }

    private static let latest = Mutex<Int64>(0)
}

extension IntentID: LosslessStringConvertible {
    /// The id that a text encodes; `nil` for other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let created = Int64(parts[0], radix: 16), let random = UInt64(parts[1], radix: 16)
        else { return nil }
        self.init(created: created, random: random)
        guard created >= 0, description == text else { return nil }
    }

    /// Time and random number, each as 16 lower-case hexadecimal digits: `18c2f0a1b3d4e5f6-0123456789abcdef`. Texts
    /// sort like ids.
    package var description: String { "\(Self.digits(UInt64(bitPattern: created)))-\(Self.digits(random))" }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension IntentID: Comparable {
    package static func < (left: IntentID, right: IntentID) -> Bool {
        (left.created, left.random) < (right.created, right.random)
    }
}

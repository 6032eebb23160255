internal import Glibc

/// A point in time for people: UTC.
package enum UTCTime {
    /// Nanoseconds since 1970 to the second, as `2026-01-31T12:00:00Z`.
    package static func text(_ nanoseconds: Int64) -> String {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func pad(_ number: Int32, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1, 2))-\(pad(parts.tm_mday, 2))"
            + "T\(pad(parts.tm_hour, 2)):\(pad(parts.tm_min, 2)):\(pad(parts.tm_sec, 2))Z"
    }

    /// Nanoseconds since 1970 to the millisecond, as `2026-01-31T12:00:00.250Z`.
    package static func milliseconds(_ nanoseconds: Int64) -> String {
        let digits = String(1000 + max(0, nanoseconds) % 1_000_000_000 / 1_000_000)
        return "\(text(nanoseconds).dropLast()).\(digits.dropFirst())Z"
    }

    /// Nanoseconds since 1970 to the nanosecond, as `2026-01-31T12:00:00.000000250Z`; whole seconds without a fraction.
    package static func exact(_ nanoseconds: Int64) -> String {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard rest != 0 else { return text(nanoseconds) }
        let fraction = rest < 0 ? rest + 1_000_000_000 : rest
        let whole = rest < 0 ? seconds - 1 : seconds
        return "\(self.seconds(whole).dropLast()).\(String(1_000_000_000 + fraction).dropFirst())Z"
    }

    /// Seconds since 1970, any number of them, in the same format.
    package static func seconds(_ seconds: Int64) -> String {
        let (nanoseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflows ? "\(seconds) s since 1970" : text(nanoseconds)
    }
}

/// A time as JSON shows it: text by RFC 3339, in UTC, to the nanosecond. A number of nanoseconds would be rounded by
/// programs whose numbers are doubles.
package struct JSONTime: Encodable, CustomStringConvertible, Sendable {
    /// Since 1970 UTC.
    private let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package init(seconds: Int64) {
        nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    package var description: String { UTCTime.exact(nanoseconds) }
}

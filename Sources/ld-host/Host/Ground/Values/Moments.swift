package import FoundationEssentials
package import LocalDataAPI

extension Duration {
    /// In nanoseconds.
    package var nanoseconds: Int128 {
        let (seconds, attoseconds) = components
        return Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)
    }

    /// Throws `unsupported` for a lifetime of something that would end at once.
    package func requirePositive(of what: String) throws(StorageError) {
        guard self <= .zero else { return }
        throw StorageError(
            .unsupported, "\(what) has the lifetime \(self), with which it would expire at once; nothing was stored",
            hint: "give a lifetime of more than 0 seconds")
    }
}

extension Date {
    /// The latest time that stores keep, which count nanoseconds in 64 bits; later ones become it.
    package static let latestStored = Date(timeIntervalSince1970: 9_223_372_036)

    /// In nanoseconds since 1970 UTC, within what 64 bits hold. Never 0, which stands for no time.
    package var nanoseconds: Int64 {
        let number = timeIntervalSince1970 * 1e9
        guard number > -9.2e18 else { return .min }
        guard self < Self.latestStored else { return .max }
        return Int64(number) == 0 ? 1 : Int64(number)
    }

    /// The same for the time at which a value is to expire.
    ///
    /// - Throws: `unsupported` if it is no time.
    package func expiry() throws(StorageError) -> Int64 {
        guard timeIntervalSince1970.isFinite else {
            throw StorageError(
                .unsupported, "a value cannot expire \(timeIntervalSince1970) seconds after 1970; nothing was stored",
                hint: "give a time, or no time for a value that stays")
        }
        return nanoseconds
    }

    /// The time a lifetime from now.
    ///
    /// - Throws: `unsupported` if the lifetime is not positive.
    package init(after lifetime: Duration) throws(StorageError) {
        try lifetime.requirePositive(of: "a value")
        self.init(timeIntervalSinceNow: lifetime / .seconds(1))
    }

    /// The date of nanoseconds since 1970 UTC.
    package init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

extension UTCTime {
    /// The date of a text like 2030-01-31T12:00:00Z; `nil` if it is no such time, or one that does not exist.
    package static func date(_ text: String) -> Date? {
        // The strategy takes 31 April for 1 May.
        let numbers = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count >= 6, (1...12).contains(numbers[1]), numbers[2] >= 1,
            numbers[2] <= days(in: numbers[1], of: numbers[0]), numbers[3] < 24, numbers[4] < 60, numbers[5] < 60
        else { return nil }
        return try? Date(text, strategy: .iso8601)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}

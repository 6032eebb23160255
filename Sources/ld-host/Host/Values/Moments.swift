package import FoundationEssentials

extension Duration {
    /// In nanoseconds.
    var nanoseconds: Int128 {
        let (seconds, attoseconds) = components
        return Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)
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

    /// The date of nanoseconds since 1970 UTC.
    package init(nanoseconds: Int64) { self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

internal import FoundationEssentials

extension Data {
    /// The bytes of pairs of hexadecimal digits; spaces between them are ignored.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// The bytes as hexadecimal digits.
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// This many bytes, ascending by one.
    init(ascendingFrom first: UInt8, _ count: Int) {
        self.init((0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) })
    }
}

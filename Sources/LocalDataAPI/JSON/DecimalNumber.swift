/// The value of a decimal number as written, to compare it with another spelling.
package struct DecimalNumber: Equatable {
    private let isNegative: Bool
    /// Without zeros at either end; empty for zero.
    private let digits: [UInt8]
    /// The power of ten that the digits are multiplied by, with the point behind the last.
    private let exponent: Int

    /// Reads a number that keeps JSON's grammar; `nil` if its exponent has no place here.
    package init?(_ text: String) {
        var rest = text.utf8[...]
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let mark = rest.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        var exponent = 0
        if let mark {
            let sign = rest[rest.index(after: mark)...]
            guard let value = Int(String(Substring(sign))), value.magnitude < 1 << 32 else { return nil }
            exponent = value
        }
        let parts = rest[..<(mark ?? rest.endIndex)].split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        var digits = parts.flatMap { Array($0) }
        exponent -= parts.count > 1 ? parts[1].count : 0
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        self.digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        self.exponent = self.digits.isEmpty ? 0 : exponent
    }

    /// The number, if it is a whole one of 64 bits.
    package var whole: Int64? {
        guard (0..<20).contains(exponent), digits.count + exponent < 20 else { return nil }
        let zeros = Array(repeating: UInt8(ascii: "0"), count: exponent)
        let text = digits.isEmpty ? "0" : String(decoding: digits + zeros, as: UTF8.self)
        return Int64(isNegative ? "-" + text : text)
    }

    /// The number as 64 bits of floating point, if nothing of it is lost by that.
    package static func exactDouble(_ text: String) -> Double? {
        guard let value = Double(text), value.isFinite, DecimalNumber(text) == DecimalNumber("\(value)") else {
            return nil
        }
        return value
    }
}

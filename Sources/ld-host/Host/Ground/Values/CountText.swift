extension Int {
    /// The digits in groups of three: `7,910`.
    package var grouped: String {
        let digits = String(magnitude)
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// A count with its noun: `1 value`, `7910 values`, or with ``grouped`` digits.
    package func counted(_ noun: String, isGrouped: Bool = false) -> String {
        let plural = noun.hasSuffix("s") ? "\(noun)es" : "\(noun)s"
        return "\(isGrouped ? grouped : String(self)) \(self == 1 ? noun : plural)"
    }
}

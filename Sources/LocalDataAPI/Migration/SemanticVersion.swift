/// A version, ordered as in https://semver.org/spec/v2.0.0.html: `2.0.0-beta.1` precedes `2.0.0`. Minor and patch are
/// optional: `2.0` is `2.0.0`.
public struct SemanticVersion: Hashable, Sendable {
    private enum Identifier: Hashable {
        case number(String)
        case text(String)
    }

    // Digits without leading zeros, so that a number of any size keeps its order.
    private let numbers: [String]
    private let prerelease: [Identifier]

    /// Reads a version; `nil` if the text is malformed. Build metadata after `+` is checked and ignored.
    public init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            let metadata = parts[1].split(separator: ".", omittingEmptySubsequences: false)
            guard metadata.allSatisfy(Self.isIdentifier) else { return nil }
        }
        let halves = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...3).contains(numbers.count), numbers.allSatisfy(Self.isNumber) else { return nil }
        self.numbers = numbers.map(String.init) + Array(repeating: "0", count: 3 - numbers.count)
        guard halves.count == 2 else {
            prerelease = []
            return
        }
        var identifiers: [Identifier] = []
        for part in halves[1].split(separator: ".", omittingEmptySubsequences: false) {
            guard Self.isIdentifier(part) else { return nil }
            if part.utf8.allSatisfy(Self.isDigit) {
                guard Self.isNumber(part) else { return nil }
                identifiers.append(.number(String(part)))
            } else {
                identifiers.append(.text(String(part)))
            }
        }
        prerelease = identifiers
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isDigit) && (text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0"))
    }

    private static func isIdentifier(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                    true
                default: isDigit($0)
                }
            }
    }
}

extension SemanticVersion: Comparable {
    /// Precedence, section 11 of the specification.
    public static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        for (left, right) in zip(left.numbers, right.numbers) where left != right {
            return isLess(left, right)
        }
        // A version with a pre-release precedes the one without.
        guard !left.prerelease.isEmpty, !right.prerelease.isEmpty else {
            return !left.prerelease.isEmpty && right.prerelease.isEmpty
        }
        for (left, right) in zip(left.prerelease, right.prerelease) where left != right {
            switch (left, right) {
            case (.number(let left), .number(let right)): return isLess(left, right)
            case (.number, .text): return true
            case (.text, .number): return false
            case (.text(let left), .text(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
            }
        }
        return left.prerelease.count < right.prerelease.count
    }

    private static func isLess(_ left: String, _ right: String) -> Bool {
        (left.utf8.count, left) < (right.utf8.count, right)
    }
}

extension SemanticVersion: CustomStringConvertible {
    /// The version in full, without build metadata.
    public var description: String {
        let suffix = prerelease.map {
            switch $0 {
            case .number(let text), .text(let text): text
            }
        }
        return numbers.joined(separator: ".") + (suffix.isEmpty ? "" : "-" + suffix.joined(separator: "."))
    }
}

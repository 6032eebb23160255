internal import FoundationEssentials
internal import LocalDataAPI

/// The outcome of one vector.
enum VectorOutcome: Sendable, Equatable {
    case passed
    case failed(String)
    /// It was not computed, for a reason shared with other vectors.
    case skipped(String)

    /// Judges a computation with one result: `valid` must give it, `invalid` must be refused or give something else,
    /// `acceptable` may be refused.
    static func judging(
        _ expectation: VectorFile.Expectation, against result: Data, named name: String,
        _ compute: () throws(StorageError) -> Data
    ) -> VectorOutcome {
        let found: Data
        do throws(StorageError) {
            found = try compute()
        } catch {
            return expectation == .valid ? .failed("refused: \(error.message)") : .passed
        }
        switch (expectation, found == result) {
        case (.invalid, true): return .failed("\(name) was computed, though the vector is invalid")
        case (.invalid, false), (_, true): return .passed
        case (_, false): return .failed("\(name) differs")
        }
    }
}

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

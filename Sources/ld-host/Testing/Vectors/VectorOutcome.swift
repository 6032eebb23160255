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

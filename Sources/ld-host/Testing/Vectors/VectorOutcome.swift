internal import FoundationEssentials
internal import LocalDataAPI

/// What came of one vector.
enum VectorOutcome: Sendable, Equatable {
    case passed
    case failed(String)
    /// It was not computed, for a reason that it shares with others.
    case skipped(String)

    /// Judges a computation that has one result: `valid` has to come to it, `invalid` must be refused or come to
    /// something else, `acceptable` may be refused.
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

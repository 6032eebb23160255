/// The result of one check.
public struct ConformanceResult: Codable, Hashable, Sendable {
    /// How a check can end.
    public enum Outcome: String, Codable, CaseIterable, Hashable, Sendable {
        /// The component keeps the promise.
        case passed
        /// The component breaks the promise; the reason says what was expected and what was found.
        case failed
        /// The check does not apply, or cannot run here; the reason says why.
        case skipped
    }

    /// The check's id, e.g. `value.empty`.
    public let id: String
    /// The promise, as a sentence.
    public let sentence: String
    /// How the check ended.
    public let outcome: Outcome
    /// Why it failed or was skipped; `nil` if it passed.
    public let reason: String?

    package init(_ check: ConformanceCheck, _ outcome: Outcome, _ reason: String? = nil) {
        id = check.id
        sentence = check.sentence
        self.outcome = outcome
        self.reason = reason
    }
}

extension ConformanceResult {
    /// The part of the component that the check belongs to: its id without the last word.
    var ability: String { id.lastIndex(of: ".").map { String(id[..<$0]) } ?? id }
}

extension ConformanceResult.Outcome {
    /// The first word of a report's line.
    var word: String {
        switch self {
        case .passed: "ok  "
        case .failed: "FAIL"
        case .skipped: "skip"
        }
    }
}

extension ConformanceResult: CustomStringConvertible {
    /// One line: `ok`, `FAIL` or `skip`, the id, the sentence, and the reason if there is one.
    public var description: String {
        let padding = String(repeating: " ", count: max(0, 28 - id.count))
        return "\(outcome.word)  \(id)\(padding)  \(sentence)" + (reason.map { ": \($0)" } ?? "")
    }
}

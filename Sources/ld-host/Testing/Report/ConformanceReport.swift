/// What came of all checks of one component, in the order of the checks.
public struct ConformanceReport: Codable, Hashable, Sendable {
    /// The component's id.
    public let component: String
    /// Where it came from: a plugin's file, or a type's name.
    public let source: String
    /// One result for each check.
    public let results: [ConformanceResult]

    package init(component: String, source: String, results: [ConformanceResult]) {
        self.component = component
        self.source = source
        self.results = results
    }

    /// The promises that are not kept; empty for a component that conforms.
    public var failures: [ConformanceResult] { results(.failed) }

    /// The results of one outcome.
    public func results(_ outcome: ConformanceResult.Outcome) -> [ConformanceResult] {
        results.filter { $0.outcome == outcome }
    }
}

extension ConformanceReport: CustomStringConvertible {
    /// The report for people: a heading, one line a check, and the numbers.
    public var description: String {
        let counts = ConformanceResult.Outcome.allCases.map { "\(results($0).count) \($0.rawValue)" }
        let lines = ["\(component)  \(source)"] + results.map(\.description) + [counts.joined(separator: ", ")]
        return lines.joined(separator: "\n")
    }
}

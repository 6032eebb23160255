/// The results of all checks of one component, in the order of the checks.
public struct ConformanceReport: Codable, Hashable, Sendable {
    /// The component's id.
    public let component: String
    /// Its origin: a plugin file, or a type's name.
    public let source: String
    /// One result for each check.
    public let results: [ConformanceResult]

    package init(component: String, source: String, results: [ConformanceResult]) {
        self.component = component
        self.source = source
        self.results = results
    }

    /// The broken promises; empty for a component that conforms.
    public var failures: [ConformanceResult] { results(.failed) }

    /// The results with one outcome.
    public func results(_ outcome: ConformanceResult.Outcome) -> [ConformanceResult] {
        results.filter { $0.outcome == outcome }
    }
}

extension ConformanceReport: CustomStringConvertible {
    /// The report for people: a heading, one line per check, and the totals.
    public var description: String {
        ([heading] + results.map(\.description) + [numbers]).joined(separator: "\n")
    }

    /// The report in short: a heading, one line per ability, every failure, and the totals.
    public var summary: String {
        var (abilities, groups) = ([String](), [String: [ConformanceResult]]())
        for result in results {
            if groups[result.ability] == nil { abilities.append(result.ability) }
            groups[result.ability, default: []].append(result)
        }
        let lines = abilities.flatMap { ability in
            let results = groups[ability] ?? []
            return [Self.line(ability, results)] + results.filter { $0.outcome == .failed }.map(\.description)
        }
        return ([heading] + lines + [numbers]).joined(separator: "\n")
    }

    private var heading: String { "\(component)  \(source)" }

    private var numbers: String {
        ConformanceResult.Outcome.allCases.map { "\(results($0).count) \($0.rawValue)" }.joined(separator: ", ")
    }

    /// The line for the checks of an ability; with the reason if all were skipped for the same one.
    private static func line(_ ability: String, _ results: [ConformanceResult]) -> String {
        let counts = ConformanceResult.Outcome.allCases.compactMap { outcome in
            let count = results.count { $0.outcome == outcome }
            return count > 0 ? "\(count) \(outcome.rawValue)" : nil
        }
        let outcomes = Set(results.map(\.outcome))
        let outcome: ConformanceResult.Outcome =
            outcomes.contains(.failed) ? .failed : outcomes.contains(.passed) ? .passed : .skipped
        let reasons = Set(results.filter { $0.outcome == .skipped }.compactMap(\.reason))
        let reason = reasons.count == 1 ? reasons.first.map { ": \($0)" } : nil
        let padding = String(repeating: " ", count: max(0, 28 - ability.count))
        return "\(outcome.word)  \(ability)\(padding)  \(counts.joined(separator: ", "))\(reason ?? "")"
    }
}

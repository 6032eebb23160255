/// Two ways of doing the same thing, measured in turn.
struct Comparison: Sendable {
    /// Nanoseconds, or any other unit that both have.
    let ours: Double
    let baseline: Double
    /// The median of the rounds' ratios: a machine that slows down for a while slows both ways of a round down.
    let ratio: Double
    /// The median of the rounds' differences.
    let difference: Double

    /// Measures in rounds; the two ways alternate in going first. One round before that does not count, unless both
    /// have run before.
    static func rounds(
        _ count: Int, areWarm: Bool = false, ours: () async throws -> Double, baseline: () async throws -> Double
    ) async rethrows -> Comparison {
        if !areWarm {
            _ = try await ours()
            _ = try await baseline()
        }
        var rounds: [(ours: Double, baseline: Double)] = []
        for round in 0..<count {
            if round.isMultiple(of: 2) {
                let first = try await ours()
                rounds.append((first, try await baseline()))
            } else {
                let first = try await baseline()
                rounds.append((try await ours(), first))
            }
        }
        return Comparison(
            ours: median(rounds.map(\.ours)), baseline: median(rounds.map(\.baseline)),
            ratio: median(rounds.map { $0.ours / $0.baseline }),
            difference: median(rounds.map { $0.ours - $0.baseline }))
    }
}

/// The middle value; the upper one of an even count.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

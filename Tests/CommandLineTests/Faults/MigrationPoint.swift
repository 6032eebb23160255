import FoundationEssentials

/// One disturbance of a migration.
struct MigrationPoint: Sendable {
    let mode: FaultMode
    /// Whether every call after the one that is hit fails in the same way, as on a disk that stays full.
    let isLasting: Bool
    /// Which call is hit, from 1.
    let number: Int
    /// Which call of whoever goes on is hit, if that one is killed too.
    var second: Int?

    /// Whether every call is hit in every way, which takes hours.
    private static let isWhole = ProcessInfo.processInfo.environment["LOCALDATA_POINTS"] == "all"

    private static let errors =
        [(FaultMode.noSpace, true)] + FaultMode.allCases.filter { !$0.kills }.map { ($0, false) }
    private static let kills = FaultMode.allCases.filter(\.kills).map { ($0, false) }

    /// How many ways there are in which a call is hit.
    static func ways(killing: Bool) -> Int { errors.count + (killing ? kills.count : 0) }

    /// The points that are tried of some calls: with `LOCALDATA_TORTURE=1` every call in one way, in turn, and with
    /// `LOCALDATA_POINTS=all` besides in every way; otherwise a random part of all. They are the same for the same
    /// `LOCALDATA_SEED`. Every fourth that is killed is so twice.
    static func chosen(
        of calls: ClosedRange<Int>, killing: Bool, sample: Int, _ generator: inout SeededGenerator
    ) -> [MigrationPoint] {
        let ways = killing ? kills + errors : errors
        let turn = Int.random(in: 0..<ways.count, using: &generator)
        var points: [MigrationPoint] = []
        for (index, (mode, isLasting)) in ways.enumerated() {
            for number in calls
            where isWhole || !BuiltProducts.isTorture || (number + turn) % ways.count == index {
                points.append(MigrationPoint(mode: mode, isLasting: isLasting, number: number))
            }
        }
        if !BuiltProducts.isTorture { points = Array(points.shuffled(using: &generator).prefix(sample)) }
        for index in points.indices where index.isMultiple(of: 4) && points[index].mode.kills {
            points[index].second = .random(in: calls, using: &generator)
        }
        return points
    }
}

extension MigrationPoint: CustomStringConvertible {
    /// The point in words.
    var description: String {
        "\(mode.rawValue)\(isLasting ? ", and from then on," : "") at call \(number)\(second.map { " and \($0)" } ?? "")"
    }
}

import FoundationEssentials

/// One disturbance of a migration.
struct MigrationPoint: Sendable {
    let mode: FaultMode
    /// Which call is hit, from 1.
    let number: Int
    /// Which call of whoever goes on is hit, if that one is killed too.
    var second: Int?

    /// Whether every call is hit in every mode, which takes hours.
    private static let isWhole = ProcessInfo.processInfo.environment["LOCALDATA_POINTS"] == "all"

    /// The points that are tried of some calls: with `LOCALDATA_TORTURE=1` every call in one mode, in turn, and with
    /// `LOCALDATA_POINTS=all` besides in every mode; otherwise a random part of all. They are the same for the same
    /// `LOCALDATA_SEED`. Every fourth has a second.
    static func chosen(
        of calls: ClosedRange<Int>, _ modes: [FaultMode], sample: Int, _ generator: inout SeededGenerator
    ) -> [MigrationPoint] {
        var points: [MigrationPoint] = []
        let turn = Int.random(in: 0..<modes.count, using: &generator)
        for (index, mode) in modes.enumerated() {
            for number in calls
            where isWhole || !BuiltProducts.isTorture || (number + turn) % modes.count == index {
                points.append(MigrationPoint(mode: mode, number: number))
            }
        }
        if !BuiltProducts.isTorture { points = Array(points.shuffled(using: &generator).prefix(sample)) }
        for index in points.indices where index.isMultiple(of: 4) && points[index].mode.kills {
            points[index].second = .random(in: calls, using: &generator)
        }
        return points
    }
}

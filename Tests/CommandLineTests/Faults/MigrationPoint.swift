/// One disturbance of a migration.
struct MigrationPoint: Sendable {
    let mode: FaultMode
    /// Which call is hit, from 1.
    let number: Int
    /// Which call of whoever goes on is hit, if that one is killed too.
    var second: Int?

    /// All points of some calls.
    static func all(of calls: ClosedRange<Int>, _ modes: [FaultMode] = FaultMode.allCases) -> [MigrationPoint] {
        modes.flatMap { mode in calls.map { MigrationPoint(mode: mode, number: $0) } }
    }
}

import FoundationEssentials
import TestSupport

/// One disturbance of a migration.
struct MigrationPoint: Sendable {
    let mode: FaultMode
    /// Whether every call after the one that is hit fails in the same way, as on a disk that stays full.
    let isLasting: Bool
    /// Which call is hit, from 1.
    let number: Int
    /// The call that is hit in the process that resumes, if that one is killed too.
    var second: Int?

    /// The kinds of points that `LOCALDATA_FAULTS` lists, separated by commas; `nil` for all.
    private static let wanted = ProcessInfo.processInfo.environment["LOCALDATA_FAULTS"]
        .map { Set($0.split(separator: ",").map(String.init)) }

    /// The calls that can be half done. Changing a file's length is not one of them: it happens at once or not at all,
    /// and SQLite relies on that when it truncates its log.
    private static let tearable: Set<String> = [
        "write", "pwrite", "writev", "pwritev", "pwritev2", "fallocate", "posix_fallocate", "copy_file_range",
        "sendfile", "splice",
    ]

    /// All points of some calls. First every state that a kill can leave: before each call, in the middle of those that
    /// can be half done, and after the last. (The state after any other call is the one before the next.) Then every
    /// way to fail at each call.
    private static func all(of calls: MigrationCalls, killing: Bool) -> [MigrationPoint] {
        var points: [MigrationPoint] = []
        func add(_ mode: FaultMode, _ number: Int, isLasting: Bool = false) {
            points.append(MigrationPoint(mode: mode, isLasting: isLasting, number: number))
        }
        for (number, name) in zip(calls.numbers, calls.names) {
            if killing {
                add(.killBefore, number)
                if tearable.contains(name) { add(.killTorn, number) }
                if number == calls.numbers.upperBound { add(.killAfter, number) }
            }
            for mode in FaultMode.allCases where !mode.kills { add(mode, number) }
            add(.noSpace, number, isLasting: true)
        }
        return points.filter { wanted?.contains($0.kind) ?? true }
    }

    /// The points to try for some calls: all with `LOCALDATA_TORTURE=1`, otherwise a random part, the same for the same
    /// `LOCALDATA_SEED`. Every fourth point that kills has a second kill.
    /// - Returns: The points, and how many there are in all.
    static func chosen(
        of calls: MigrationCalls, killing: Bool, sample: Int, _ generator: inout SeededGenerator
    ) -> (points: [MigrationPoint], of: Int) {
        let all = all(of: calls, killing: killing)
        var points = TestRun.sample(sample, of: all, using: &generator)
        for index in points.indices where index.isMultiple(of: 4) && points[index].mode.kills {
            points[index].second = .random(in: calls.numbers, using: &generator)
        }
        return (points, all.count)
    }
}

extension MigrationPoint: CustomStringConvertible {
    /// The kind of fault, as `LOCALDATA_FAULTS` names it.
    private var kind: String { "\(mode.rawValue)\(isLasting ? "-lasting" : "")" }

    var description: String {
        "\(kind) at call \(number)\(second.map { " and \($0)" } ?? "")"
    }
}

/// The calls of an undisturbed migration.
struct MigrationCalls {
    /// Their numbers in the process, from 1.
    let numbers: ClosedRange<Int>
    let names: [String]
}

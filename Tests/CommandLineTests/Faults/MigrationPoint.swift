import FoundationEssentials
import TestSupport

/// One disturbance of a migration.
struct MigrationPoint: Sendable {
    let mode: FaultMode
    /// Whether every call after the one that is hit fails in the same way, as on a disk that stays full.
    let isLasting: Bool
    /// Which call is hit, from 1.
    let number: Int
    /// Which call of whoever goes on is hit, if that one is killed too.
    var second: Int?

    /// The kinds of points that `LOCALDATA_FAULTS` names, divided by commas; `nil` for all.
    private static let wanted = ProcessInfo.processInfo.environment["LOCALDATA_FAULTS"]
        .map { Set($0.split(separator: ",").map(String.init)) }

    /// The calls of which a half can be done. A file's length is none of them: it changes at once or not at all, and
    /// SQLite builds on that when it empties its log.
    private static let tearable: Set<String> = [
        "write", "pwrite", "writev", "pwritev", "pwritev2", "fallocate", "posix_fallocate", "copy_file_range",
        "sendfile", "splice",
    ]

    /// All points of some calls: every state that a kill can leave - before each call, in the middle of those that can
    /// be halved, and after the last, as after any other is before the next -, and every way to fail at each call.
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

    /// The points that are tried of some calls: all with `LOCALDATA_TORTURE=1`, otherwise a random part, the same for
    /// the same `LOCALDATA_SEED`. Every fourth that is killed is so twice.
    ///
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
    /// What happens, as `LOCALDATA_FAULTS` names it.
    private var kind: String { "\(mode.rawValue)\(isLasting ? "-lasting" : "")" }

    /// The point in words.
    var description: String {
        "\(kind) at call \(number)\(second.map { " and \($0)" } ?? "")"
    }
}

/// The calls of a migration that nothing disturbs.
struct MigrationCalls {
    /// Their numbers in the process, from 1.
    let numbers: ClosedRange<Int>
    let names: [String]
}

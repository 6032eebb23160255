internal import CLocalData
internal import FoundationEssentials
internal import HostPlugins
internal import LocalDataAPI

extension ConformanceCheck {
    static let packRuns: [ConformanceCheck] = [
        ConformanceCheck(pack: "condition.reads", "a condition changes nothing", if: .migrations) { pack in
            try pack.forEachRun { index, values in
                let run = try pack.condition(index, .init(values: values))
                try expect(
                    run.transaction.staged.isEmpty,
                    "should_migrate of \(pack.name(index)) changed \(run.transaction.staged.keys.sorted())")
            }
        },
        ConformanceCheck(
            pack: "condition.repeats", "a condition gives the same answer for the same values", if: .migrations
        ) {
            pack in
            try pack.forEachRun { index, values in
                let runs = try (0..<3).map { _ in try pack.condition(index, .init(values: values)) }
                try expect(
                    runs.allSatisfy { $0.isAlike(runs[0]) },
                    "should_migrate of \(pack.name(index)) returned \(runs.map(\.status)) for the same values")
            }
        },
        ConformanceCheck(
            pack: "run.effect", "a successful run has written or removed its destination", if: .migrations
        ) { pack in
            try pack.forEachRun { index, values in
                let description = pack.pack.list[index]
                guard let address = description.destination?.address,
                    try pack.condition(index, .init(values: values)).status == LD_OK
                else { return }
                let run = try pack.migrate(index, .init(values: values))
                guard run.succeeded else { return }
                let isThere = (run.transaction.staged[address] ?? values[address]) != nil
                try expect(
                    isThere == (description.effect == .brings),
                    "\(pack.name(index)) reports success, but '\(address)' \(isThere ? "still has a value" : "has no value")"
                )
            }
        },
        ConformanceCheck(
            pack: "run.repeats", "a run that is repeated over the same values does the same",
            if: .migrations
        ) { pack in
            try pack.forEachRun { index, values in
                let runs = try (0..<3).map { _ in try pack.migrate(index, .init(values: values)) }
                try expect(
                    runs.allSatisfy { $0.isAlike(runs[0]) },
                    "three runs of \(pack.name(index)) over the same values differ (status \(runs.map(\.status)))"
                )
            }
        },
        ConformanceCheck(pack: "run.result", "a run ends with either a result or a failure", if: .migrations) { pack in
            try pack.forEachRun { index, values in
                let run = try pack.migrate(index, .init(values: values))
                switch run.status {
                case LD_OK:
                    try expect(
                        run.result != nil,
                        "\(pack.name(index)) wrote \(run.written.count) results, or a malformed one")
                case LD_FAILED:
                    try expect(run.written.isEmpty, "\(pack.name(index)) failed, and wrote a result")
                default: throw ConformanceFailure("migrate of \(pack.name(index)) returned \(run.status)")
                }
            }
        },
        ConformanceCheck(
            pack: "run.failures", "a run does not report success if the host refused its request", if: .migrations
        ) { pack in
            try pack.forEachRun { index, values in
                let plain = try pack.migrate(index, .init(values: values))
                // The migration decides what a failed read means; a failed write must fail the run.
                for call in 0..<min(plain.transaction.calls, 200) {
                    let run = try pack.migrate(index, .init(values: values, failingCall: call))
                    try expect(
                        !run.succeeded || run.transaction.staged == plain.transaction.staged,
                        "\(pack.name(index)) reports success although call \(call + 1) of its transaction failed")
                }
            }
        },
        ConformanceCheck(pack: "run.cancelled", "a run that the host has cancelled does not succeed", if: .migrations) {
            pack in
            // Cancelling a call that is not running must be possible.
            pack.pack.table.cancel?(pack.pack.table.`self`, 0)
            pack.pack.table.cancel?(pack.pack.table.`self`, .max)
            try pack.forEachRun { index, values in
                let plain = try pack.migrate(index, .init(values: values))
                guard plain.transaction.calls > 0 else { return }
                let run = try pack.migrate(index, .init(values: values, isCancelled: true))
                try expect(!run.succeeded, "\(pack.name(index)) reports success although it was cancelled")
            }
        },
    ]
}

extension PackUnderTest {
    /// Passes each migration of a single key, once without values and once with one for each source.
    func forEachRun(_ body: (Int, [String: Data]) throws -> Void) throws {
        for index in migrations {
            for values in [[:], values(for: index)] { try body(index, values) }
        }
    }
}

internal import CLocalData
internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

extension ConformanceCheck {
    static let packBoundary: [ConformanceCheck] = [
        ConformanceCheck(
            pack: "boundary.reports", "a failure is reported exactly once, and nothing else is reported",
            if: .migrations
        ) { pack in
            func check(_ run: PackUnderTest.Run, _ what: String) throws {
                let expected = run.status == LD_FAILED ? 1 : 0
                try expect(
                    run.reports.count == expected,
                    "\(what) returned \(run.status) with \(run.reports.count) reports; expected \(expected)")
            }
            try pack.forEachRun { index, values in
                for conduct in [
                    RecordedTransaction.Conduct(values: values), .init(values: values, failingCall: 0),
                ] {
                    try check(try pack.condition(index, conduct), "should_migrate of \(pack.name(index))")
                    try check(try pack.migrate(index, conduct), "migrate of \(pack.name(index))")
                }
            }
        },
        ConformanceCheck(
            pack: "boundary.thread", "a transaction is used only on the thread of its call", if: .migrations
        ) { pack in
            try pack.forEachRun { index, values in
                let runs = [
                    try pack.condition(index, .init(values: values)), try pack.migrate(index, .init(values: values)),
                ]
                let calls = runs.reduce(0) { $0 + $1.transaction.callsFromOtherThreads }
                try expect(calls == 0, "\(pack.name(index)) used its transaction \(calls) times on another thread")
            }
        },
        ConformanceCheck(pack: "boundary.end", "a transaction is not used after its call has returned", if: .migrations)
        {
            pack in
            try pack.forEachRun { index, values in
                for _ in 0..<2 { _ = try pack.migrate(index, .init(values: values)) }
            }
            try expect(
                pack.callsAfterTheEnd == 0,
                "transactions were used \(pack.callsAfterTheEnd) times after their calls had returned")
        },
        ConformanceCheck(
            pack: "threads.at-once", "migrations that run at the same time do what each does alone", if: .migrations
        ) { pack in
            let alone = try pack.another()
            defer { alone.end() }
            let indices = Array(pack.migrations.prefix(16))
            let expected = try indices.map { try alone.migrate($0, .init(values: alone.values(for: $0))) }
            for _ in 0..<5 {
                let together = try pack.another()
                defer { together.end() }
                let found = Mutex<[Int: PackUnderTest.Run]>([:])
                let arrivals = Mutex<[Int: Int]>([:])
                try withThreads(indices) { index in
                    var conduct = RecordedTransaction.Conduct(values: together.values(for: index))
                    // All unfinished runs meet at each call, so that the steps of one fall between those of the others.
                    conduct.meeting = { call in
                        arrivals.withLock { $0[call, default: 0] += 1 }
                        for _ in 0..<100_000 {
                            let done = found.withLock { $0.count }
                            if arrivals.withLock({ $0[call, default: 0] }) + done >= indices.count { return }
                            sched_yield()
                        }
                    }
                    let run = try together.migrate(index, conduct)
                    found.withLock { $0[index] = run }
                }
                for (index, run) in zip(indices, expected) {
                    try expect(
                        found.withLock { $0[index] }?.isAlike(run) == true,
                        "\(pack.name(index)) behaved differently while other migrations ran")
                }
            }
        },
        ConformanceCheck(
            pack: "convert.repeats", "the same bytes are always converted to the same result", if: .conversions
        ) {
            pack in
            for index in pack.converting {
                for value in [Data(), Data(PackValue.text.utf8), Data("{}".utf8), Pattern.data(1, 5000)] {
                    let (first, second) = (pack.convert(index, value), pack.convert(index, value))
                    try expect(
                        first.status == second.status && first.pieces == second.pieces,
                        "\(pack.name(index)) converted the same \(value.count) bytes to two results")
                    try expect(
                        first.status == LD_OK && first.pieces.count == 1
                            || first.status == LD_FAILED && first.reports.count == 1,
                        "convert of \(pack.name(index)) returned \(first.status) with \(first.pieces.count) values")
                }
            }
        },
        ConformanceCheck(pack: "secrets.texts", "no value appears in an error or a log", if: .migrations) { pack in
            var said: [String] = []
            try pack.forEachRun { index, values in
                let plain = try pack.migrate(index, .init(values: values))
                for call in 0..<min(plain.transaction.calls, 50) {
                    let run = try pack.migrate(index, .init(values: values, failingCall: call))
                    said += run.reports.map { "\($0.message) \($0.hint)" }
                    said += run.written.map { String(decoding: $0, as: UTF8.self) }
                }
            }
            said += pack.subject.log.messages
            try expect(
                !said.contains { $0.contains(PackValue.text) }, "a value is in an error, a result or the log")
        },
    ]

    private static func withThreads(_ indices: [Int], _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let workers = try indices.map { index in try Worker { try body(index) } }
        for worker in workers { try worker.join() }
    }
}

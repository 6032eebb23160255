internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The speedup of several readers on two cores over one reader, each with its own key: two tasks of Swift's pool, and
/// eight threads of the I/O executor.
struct Scaling {
    let setting: Setting
    private static let calls = 400_000

    func run() async throws {
        try await run(2, "two tasks", atLeast: 1.7, on: nil)
        try await run(8, "eight threads", atLeast: 1.6, on: IOExecutor.shared)
    }

    private func run(
        _ readers: Int, _ name: String, atLeast aim: Double, on executor: (any TaskExecutor)?
    ) async throws {
        let router = try setting.memory()
        let keys = (0..<readers).map { Setting.key("reader \($0)", .data) }
        let value = Data(repeating: 7, count: 128)
        for key in keys { try await router.set(value, for: key) }
        let direct = (0..<readers).map { _ in DirectCalls(value) }
        let calls = 2 * Self.calls / readers
        let times = try await Comparison.rounds(11) {
            try await Self.factor(readers, on: executor) { try await Self.gets(router, keys[$0], calls) }
        } baseline: {
            try await Self.factor(readers, on: executor) { _ = try await direct[$0].gets(calls) }
        }
        Row(
            what: "\(name) on two cores, each with `get` of its own key through the router, against one; direct stores",
            ours: "\(decimal(times.ours, 2))x", baseline: "\(decimal(times.baseline, 2))x",
            ratio: decimal(times.ratio, 2), aim: ">= \(decimal(aim, 2))x",
            // If stores that share nothing do not scale, other programs use the cores, and the result shows nothing.
            isMet: times.ours >= aim ? true : times.baseline >= aim ? false : nil
        ).print()
    }

    private static func gets(_ router: StorageRouter, _ key: StorageKey<Data>, _ calls: Int) async throws {
        for _ in 0..<calls { _ = try await router.get(key) }
    }

    /// The work of all readers, divided by that of one in the same time.
    private static func factor(
        _ readers: Int, on executor: (any TaskExecutor)?, _ work: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        func all(_ range: Range<Int>) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in range { group.addTask(executorPreference: executor) { try await work(reader) } }
                try await group.waitForAll()
            }
        }
        let one = try await Nanoseconds.each(1) { try await all(0..<1) }
        let many = try await Nanoseconds.each(1) { try await all(0..<readers) }
        return Double(readers) * one / many
    }
}

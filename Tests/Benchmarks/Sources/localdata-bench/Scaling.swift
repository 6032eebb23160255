internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// How many times more two tasks on two cores read than one does, each its own key.
struct Scaling {
    let setting: Setting
    private static let calls = 400_000

    func run() async throws {
        let router = try setting.memory()
        let keys = [Setting.key("first", .data), Setting.key("second", .data)]
        let value = Data(repeating: 7, count: 128)
        for key in keys { try await router.set(value, for: key) }
        let direct = [DirectCalls(value), DirectCalls(value)]
        let times = try await Comparison.rounds(11) {
            try await Self.factor { try await Self.gets(router, keys[$0]) }
        } baseline: {
            try await Self.factor { _ = try await direct[$0].gets(Self.calls) }
        }
        Row(
            what: "two tasks on two cores, `get` of two keys through the router, against one task; two direct stores",
            ours: "\(decimal(times.ours, 2))x", baseline: "\(decimal(times.baseline, 2))x",
            ratio: decimal(times.ratio, 2), aim: ">= 1.70x",
            // Where two stores that share nothing do not scale, other programs have the cores, and nothing is shown.
            isMet: times.ours >= 1.7 ? true : times.baseline >= 1.7 ? false : nil
        ).print()
    }

    private static func gets(_ router: StorageRouter, _ key: StorageKey<Data>) async throws {
        for _ in 0..<calls { _ = try await router.get(key) }
    }

    /// The work of two tasks in the time of one.
    private static func factor(_ work: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        let one = try await Nanoseconds.each(1) { try await Task.detached { try await work(0) }.value }
        let two = try await Nanoseconds.each(1) {
            let first = Task.detached { try await work(0) }
            let second = Task.detached { try await work(1) }
            try await first.value
            try await second.value
        }
        return 2 * one / two
    }
}

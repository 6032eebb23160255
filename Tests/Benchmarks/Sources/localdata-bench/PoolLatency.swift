internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost
internal import Synchronization

/// How long an unrelated task waits for Swift's pool, idle and while 64 calls of a slow store are in flight.
struct PoolLatency {
    /// State that the callers and the measurement share.
    private final class Progress: Sendable {
        let ended = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
    }

    let setting: Setting
    private static let callers = 64
    /// Long enough for many rounds of the slow store's calls.
    private static let duration = 2e9

    func run() async throws {
        let idle = await Self.hops()
        let router = try setting.router("slow", in: "\(setting.tools)/libSlow.so")
        let key = Setting.key("value", .data)
        try await router.set(Data(count: 128), for: key)
        let progress = Progress()
        let (busy, calls) = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.callers {
                group.addTask {
                    while !progress.isOver.load(ordering: .relaxed) {
                        _ = try await router.get(key)
                        progress.ended.add(1, ordering: .relaxed)
                    }
                }
            }
            // All calls are in flight once each caller has finished one.
            while progress.ended.load(ordering: .relaxed) < Self.callers { await Task.yield() }
            let before = progress.ended.load(ordering: .relaxed)
            let times = await Self.hops()
            let calls = progress.ended.load(ordering: .relaxed) - before
            progress.isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
            return (times, calls)
        }
        try require(calls > 0, "no call ended while the pool was measured")
        for (name, share, limit) in [("p50", 0.5, nil), ("p99", 0.99, 5e6), ("max", 1, nil)] {
            let ours = Self.percentile(busy, share)
            let baseline = Self.percentile(idle, share)
            Row(
                what: "\(name) of a task's way through Swift's pool, 64 calls of 100 ms in flight; none in flight",
                ours: microseconds(ours), baseline: microseconds(baseline), ratio: decimal(ours / baseline, 2),
                aim: limit.map { "< \(microseconds($0))" } ?? "", isMet: limit.map { ours < $0 }
            ).print()
        }
    }

    private static func hops() async -> [Double] {
        await Task.detached {
            var times: [Double] = []
            let end = Nanoseconds.now + duration
            while Nanoseconds.now < end {
                let start = Nanoseconds.now
                await Task.detached {}.value
                times.append(Nanoseconds.now - start)
            }
            return times.sorted()
        }.value
    }

    private static func percentile(_ sorted: [Double], _ share: Double) -> Double {
        sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}

internal import FoundationEssentials
internal import LocalDataAPI
internal import LocalDataHost

/// The cost of a call through router and plugin, compared with the same store in the same program.
struct BoundaryCost {
    let setting: Setting
    private static let calls = 200_000

    func run() async throws {
        let router = try setting.memory()
        let key = Setting.key("value", .data)
        let value = Data(repeating: 7, count: 128)
        try await router.set(value, for: key)
        let direct = DirectCalls(value)
        for (place, executor) in [("the global pool", nil), ("IOExecutor", IOExecutor.shared)] {
            let gets = try await Task(executorPreference: executor) {
                try await Comparison.rounds(11) {
                    try await Self.gets(router, key)
                } baseline: {
                    try await direct.gets(Self.calls)
                }
            }.value
            Self.row("typed `get` of 128 B, memory store, from \(place); direct call", gets, atMost: 200).print()
        }
        let sets = try await Task(executorPreference: IOExecutor.shared) {
            try await Comparison.rounds(11) {
                try await Self.sets(router, key, value)
            } baseline: {
                await direct.sets(Self.calls, value)
            }
        }.value
        Self.row("typed `set` of 128 B, memory store; direct call", sets).print()
    }

    private static func row(_ what: String, _ times: Comparison, atMost limit: Double? = nil) -> Row {
        Row(
            what: what, ours: microseconds(times.ours), baseline: microseconds(times.baseline),
            ratio: "+\(microseconds(times.difference))", aim: limit.map { "<= +\(microseconds($0))" } ?? "",
            isMet: limit.map { times.difference <= $0 })
    }

    private static func gets(_ router: StorageRouter, _ key: StorageKey<Data>) async throws -> Double {
        var bytes = 0
        let time = try await Nanoseconds.each(calls) {
            for _ in 0..<calls { bytes += try await router.get(key).count }
        }
        try require(bytes == calls * 128, "the router gave \(bytes) bytes")
        return time
    }

    private static func sets(
        _ router: StorageRouter, _ key: StorageKey<Data>, _ value: Data
    ) async throws -> Double {
        try await Nanoseconds.each(calls) {
            for _ in 0..<calls { try await router.set(value, for: key) }
        }
    }
}

import FoundationEssentials
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("swapping stores under load") struct SwappingTests {
    @Test("while stores are swapped, each call gets its answer from one of them", .timeLimit(.minutes(1)))
    func swap() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try await fixture.build()
        let router = try StorageRouter.inMemory(fixture)
        let keys = (0..<8).map { textKey("key \($0)") }
        for component in ["fixture", "memory"] {
            try await router.configure("domains.userDefaults", .init(.string(component)))
            for (index, key) in keys.enumerated() { try await router.set("\(index) 0", for: key) }
        }
        let end = SuspendingClock.now + .seconds(1)
        let calls = Counter()
        let ended = Counter()
        let swaps = try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, key) in keys.enumerated() {
                group.addTask {
                    var round = 1
                    while ended.value == 0, !Task.isCancelled {
                        try await router.set("\(index) \(round)", for: key)
                        // Either store must answer with a whole value that this task has already written.
                        let parts = try await router.get(key).split(separator: " ").compactMap { Int($0) }
                        #expect(parts.count == 2 && parts[0] == index && parts[1] <= round)
                        #expect(try await router.exists(key))
                        calls.add(3)
                        round += 1
                        if round % 64 == 0 { await Task.yield() }
                    }
                }
            }
            var swaps = 0
            // A slow machine needs more time for the same work.
            while SuspendingClock.now < end || swaps <= 10 || calls.value <= 1000 {
                swaps += 1
                try await router.configure(
                    "domains.userDefaults", .init(.string(swaps % 2 == 0 ? "memory" : "fixture")))
            }
            ended.add(1)
            try await group.waitForAll()
            return swaps
        }
        #expect(swaps > 10)
        // Both were in use: each holds a newer value than at the start.
        for component in ["fixture", "memory"] {
            try await router.configure("domains.userDefaults", .init(.string(component)))
            var newer = false
            for key in keys where try await !router.get(key).hasSuffix(" 0") { newer = true }
            #expect(newer, "\(component) was never written to")
        }
    }

    @Test("a call in flight ends on the store that it began with", .timeLimit(.minutes(1)))
    func inFlight() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try await fixture.build(
            "FIXTURE_SLOW=400", "FIXTURE_LATENCY=LD_LATENCY_NETWORK", "FIXTURE_ANSWER=\"\\\"slow\\\"\"")
        let router = try StorageRouter.inMemory(fixture)
        let key = textKey("k")
        try await router.set("memory", for: key)
        try await router.configure("domains.userDefaults", "fixture")
        // Resolves the key, so that the call below is in flight when it first suspends.
        _ = try await router.exists(key)
        async let slow = router.get(key)
        await Task.yield()
        try await router.configure("domains.userDefaults", "memory")
        let quick = try await router.get(key)
        #expect(quick == "memory")
        #expect(["slow", "memory"].contains(try await slow))
    }

    @Test("callers that are the first to use a router, at once, share one store")
    func firstUse() async throws {
        for _ in 0..<200 {
            let fixture = try FixtureBuilder()
            defer { fixture.remove() }
            let router = try StorageRouter.inMemory(fixture)
            let names = (0..<8).map { "k\($0)" }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in names {
                    group.addTask(executorPreference: IOExecutor.shared) {
                        try await router.set("value", for: textKey(name))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await router.names(in: .userDefaults(), prefix: "") == names)
        }
    }

    @Test("a bulk store reports each value once, and ends with the first failure")
    func bulk() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        let router = try StorageRouter.inMemory(fixture)
        let reported = Counter()
        let values = (0..<200).map { (key: AnyStorageKey(textKey("k\($0)")), data: Data("\($0)".utf8)) }
        try await router.setData(values) { reported.add() }
        #expect(reported.value == 200)
        for (key, data) in values { #expect(try await router.data(for: key) == data) }
        #expect(try await router.names(in: .userDefaults(), prefix: "k19", limit: 3) == ["k19", "k190", "k191"])
        await #expect(throws: StorageError.invalidAddress) {
            try await router.setData([values[0], (key: AnyStorageKey(textKey("")), data: Data())])
        }
        try await router.setData([])
    }
}

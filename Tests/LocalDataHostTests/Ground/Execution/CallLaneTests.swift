import FoundationEssentials
import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostGround
@testable import HostStores
@testable import LocalDataHost

@Suite("calls to slow stores", .timeLimit(.minutes(1))) struct CallLaneTests {
    private func sleepyRouter(
        _ options: String, _ store: String = "", serving: String = "slow"
    ) async throws -> StorageRouter {
        let router = StorageRouter(
            configuration: try HostConfiguration(
                text: """
                    {
                      app: { id: "" }, domains: { userDefaults: "\(serving)" }, log: { level: "off" },
                      stores: {
                        slow: { component: "sleepy", options: { \(options) }, \(store) },
                        quick: { component: "sleepy" },
                      },
                    }
                    """))
        try await router.registerPlugin(
            named: "Sleepy", Plugin.export("Sleepy", version: "1.0.0", .storage(SleepyStore.self)))
        return router
    }

    private func number(_ name: String) -> StorageKey<UInt> {
        StorageKey(name: name, domain: .userDefaults(), security: .none, owner: "tests", description: "a number")
    }

    @Test("64 calls that wait do not hold up tasks that do not")
    func unrelatedTasks() async throws {
        let router = try await sleepyRouter("milliseconds: 30000", "timeout: 60")
        let key = textKey("k")
        try await router.set("x", for: key)
        let (begun, ended) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    begun.add()
                    defer { ended.add() }
                    return try await router.get(key)
                }
            }
            // If each call held a thread of Swift's pool, only as many as there are cores would ever begin.
            while begun.value < 64, ended.value == 0 { await Task.yield() }
            for _ in 0..<1000 { await Task.yield() }
            #expect(begun.value == 64 && ended.value == 0)
            _ = try await router.resolve(KeyReference(textKey("open")))
            for try await value in group { #expect(value == "x") }
        }
    }

    /// Calls from code that is not async, in a task that holds its thread.
    private func blocking<Value: Sendable>(
        _ call: @escaping @Sendable () async throws -> Value
    ) throws -> Value { try IOExecutor.blocking(call) }

    @Test("64 callers that block the threads of Swift's pool all get their value")
    func synchronousCallers() async throws {
        let router = try await sleepyRouter("milliseconds: 1", "timeout: 60")
        let key = textKey("k")
        try await router.set("x", for: key)
        let count = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<64 { group.addTask { try blocking { try await router.get(key) } } }
            return try await group.reduce(0) { $0 + ($1 == "x" ? 1 : 0) }
        }
        #expect(count == 64)
        #expect(throws: StorageError.notFound) { try blocking { try await router.get(textKey("absent")) } }
    }

    @Test("the executor's own threads are not blocked")
    func ownThread() async throws {
        let router = try await sleepyRouter("milliseconds: 0", "timeout: 60")
        let error = await Task(executorPreference: IOExecutor.shared) { () -> StorageError? in
            do {
                _ = try blocking { try await router.exists(textKey("k")) }
                return nil
            } catch { return error as? StorageError }
        }.value
        #expect(error?.code == .unsupported && error?.hint == "await the call there")
    }

    @Test("calls to a slow C store run concurrently")
    func besideEachOther() async throws {
        let fixture = try FixtureBuilder()
        defer { fixture.remove() }
        _ = try await fixture.build("FIXTURE_SLOW=1000", "FIXTURE_LATENCY=LD_LATENCY_NETWORK")
        let router = StorageRouter(configuration: try fixture.configuration("domains: { userDefaults: \"fixture\" }"))
        let key = textKey("k")
        try await router.set("x", for: key)
        let start = SuspendingClock.now
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<64 { group.addTask { try await router.get(key) } }
            for try await value in group { #expect(value == "x") }
        }
        // One after the other they would take 64 s.
        #expect(SuspendingClock.now - start < .seconds(45))
    }

    @Test("a store gets no more calls at a time than its configuration allows", arguments: [1, 3])
    func concurrency(_ width: Int) async throws {
        let router = try await sleepyRouter("milliseconds: 10", "concurrency: \(width)")
        try await router.set("x", for: textKey("k"))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<24 { group.addTask { try await router.get(textKey("k")) } }
            try await group.waitForAll()
        }
        #expect(try await router.get(number("peak")) == UInt(width))
    }

    @Test("a call that does not end in time is abandoned, in any kind of task", arguments: [false, true])
    func deadline(_ onExecutor: Bool) async throws {
        let router = try await sleepyRouter("milliseconds: 60000", "timeout: 0.05")
        let start = SuspendingClock.now
        let task = Task(executorPreference: onExecutor ? IOExecutor.shared : nil) {
            try await router.get(textKey("k"))
        }
        let error = try await #require(throws: StorageError.self) { try await task.value }
        // The store would take a minute; a busy machine also takes time.
        #expect(SuspendingClock.now - start < .seconds(45))
        #expect(error.code == .timedOut)
        #expect(error.message.contains("reading 'userDefaults/k'") && error.message.contains("0.05 seconds"))
        #expect(error.message.contains("abandoned") && error.hint.contains("timeout"))
    }

    @Test("a caller that is cancelled returns at once, with that error")
    func cancellation() async throws {
        let router = try await sleepyRouter("milliseconds: 60000", "timeout: 90")
        try await router.set("x", for: textKey("k"))
        let start = SuspendingClock.now
        let task = Task { try await router.get(textKey("k")) }
        // Wait until the call is in the store, so that it is cancelled in flight.
        while try await router.get(number("peak")) == 0 { await Task.yield() }
        task.cancel()
        let error = try await #require(throws: StorageError.self) { try await task.value }
        #expect(error.code == .cancelled && error.message.contains("reading 'userDefaults/k'"))
        // The store would take a minute; a busy machine also takes time.
        #expect(SuspendingClock.now - start < .seconds(45))
    }

    @Test("a search for an absent value does not wait endlessly for another store")
    func leftValues() async throws {
        let router = try await sleepyRouter("milliseconds: 60000", "timeout: 1", serving: "quick")
        let start = SuspendingClock.now
        let error = await router.notStored(AnyStorageKey(textKey("waits")))
        #expect(error.code == .notFound && error.message == "'userDefaults/waits' is not stored")
        #expect(SuspendingClock.now - start < .seconds(45))
    }

    @Test("a call of a task that is cancelled already does not begin")
    func cancelledBefore() async throws {
        let router = try await sleepyRouter("milliseconds: 0", "timeout: 60")
        try await router.set("x", for: textKey("k"))
        let cancelled = Counter()
        let task = Task {
            while cancelled.value == 0 { await Task.yield() }
            return try await router.get(textKey("k"))
        }
        task.cancel()
        cancelled.add()
        await #expect(throws: StorageError.cancelled) { try await task.value }
        #expect(try await router.get(number("peak")) == 0)
    }

    @Test(
        "a store's own timeout error is not reported as an abandoned call",
        arguments: [("times out", 36), ("is cancelled", 37)])
    func ownTimeout(_ name: String, _ code: Int32) async throws {
        let router = try await sleepyRouter("milliseconds: 0", "timeout: 60")
        let error = try await #require(throws: StorageError.self) { try await router.get(textKey(name)) }
        #expect(error.code.rawValue == code && error.message == error.code.summary)
    }

    @Test("a call on an executor's thread runs on that thread; a disk's read does so on other threads, too")
    func inline() async throws {
        let router = try await sleepyRouter("latency: 1")
        let (own, writer) = try await Task(executorPreference: IOExecutor.shared) {
            let own = UInt(pthread_self())
            try await router.set("x", for: textKey("k"))
            return (own, try await router.get(number("writer")))
        }.value
        #expect(own == writer)
    }

    @Test(
        "the main actor's writes to a disk run elsewhere, its reads and calls of memory stores on its thread",
        arguments: [0, 1, 2, 3])
    @MainActor func mainActor(_ latency: Int) async throws {
        let router = try await sleepyRouter("latency: \(latency)")
        // The main actor may change its thread at each suspension. So compare a thread only with the caller's own, for
        // a call that has no store to open.
        try await router.set("x", for: textKey("k"))
        _ = try await router.get(number("reader"))
        let writing = UInt(pthread_self())
        try await router.set("y", for: textKey("k"))
        let writer = try await router.get(number("writer"))
        let reading = UInt(pthread_self())
        let reader = try await router.get(number("reader"))
        #expect((writer == writing) == (latency == 0))
        #expect((reader == reading) == (latency <= 1))
    }

    @Test("calls in a row run on one separate thread, many at once on as many as the lane has, and all of them end")
    func separateThreads() async throws {
        let row = CallLane(width: 1, timeout: nil, threads: .own)
        var threads: Set<String> = []
        for _ in 0..<50 {
            let thread = try await row.run("a call") { realpath("/proc/thread-self", nil).map { String(cString: $0) } }
            threads.insert(try #require(thread))
        }
        // A call may come before the thread of the last one waits for it.
        #expect(threads.count <= 3)
        let wide = CallLane(width: 4, timeout: nil, threads: .own)
        let inside = Counter()
        let most = MutexBox(0)
        for pause in [0, 1, 2100, 0] {
            try await Task.sleep(for: .milliseconds(pause))
            let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await wide.run("a call") {
                            inside.add()
                            most.withLock { $0 = max($0, inside.value) }
                            sched_yield()
                            inside.add(-1)
                            return number
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 199 * 100)
        }
        #expect(most.withLock { $0 } <= 4)
    }
}

import Glibc
import LocalDataAPI
import Synchronization
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite(.timeLimit(.minutes(1))) struct IOExecutorTests {
    @Test("a task that prefers the executor runs on its threads, and others do not")
    func runsTasks() async {
        let preferring = await Task(executorPreference: IOExecutor.shared) {
            let first = IOExecutor.isCurrent
            await Task.yield()
            return (first, IOExecutor.isCurrent)
        }.value
        #expect(preferring == (true, true))
        let ordinary = await Task.detached { IOExecutor.isCurrent }.value
        #expect(!ordinary)
    }

    @Test("calls that wait for each other all get a thread, many more than there are cores")
    func isElastic() async {
        let count = 24
        let arrived = Counter()
        let met = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask(executorPreference: IOExecutor.shared) {
                    arrived.add()
                    // Holds the thread until all have begun: a pool of fewer threads never gets this far.
                    let end = SuspendingClock.now + .seconds(20)
                    while arrived.value < count, SuspendingClock.now < end { sched_yield() }
                    return arrived.value == count
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(met == count)
    }

    @Test("ten thousand tasks all run, on no more threads than the limit")
    func manyTasks() async {
        let threads = MutexBox<Set<UInt>>([])
        let ran = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<10_000 {
                group.addTask(executorPreference: IOExecutor.shared) {
                    threads.withLock { _ = $0.insert(UInt(pthread_self())) }
                    await Task.yield()
                    return 1
                }
            }
            return await group.reduce(0, +)
        }
        #expect(ran == 10_000)
        #expect(threads.withLock { $0.count } <= IOExecutor.limit)
    }

    @Test("a queue returns its elements in order, whatever the pattern", arguments: [1, 3, 100, 1000])
    func queue(_ burst: Int) {
        var queue = WorkQueue<Int>()
        var (next, expected) = (0, 0)
        for round in 0..<50 {
            for _ in 0..<burst {
                queue.append(next)
                next += 1
            }
            for _ in 0..<(round % 3 == 0 ? burst / 2 : burst) {
                #expect(queue.popFirst() == expected)
                expected += 1
            }
        }
        while let element = queue.popFirst() {
            #expect(element == expected)
            expected += 1
        }
        #expect(expected == next && queue.isEmpty)
    }
}

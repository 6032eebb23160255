import FoundationEssentials
import Glibc
import LocalDataAPI
import TestSupport
import Testing

@testable import HostGround
@testable import LocalDataHost

@Suite("the thread that reads sealed values", .timeLimit(.minutes(1))) struct InlineReadTests {
    private static func bytesKey(_ name: String, _ domain: StorageDomain, _ security: SecurityPolicy) -> StorageKey<
        Data
    > {
        StorageKey(name: name, domain: domain, security: security, owner: "tests", description: "bytes")
    }

    /// Runs a task on one thread. Each time that the task leaves the thread, a job ends, and another one begins when it
    /// comes back.
    private final class OneThread: TaskExecutor {
        private let queue = MutexBox<[UnownedJob]>([])
        private let jobs = Counter()
        private let signal = IdleSemaphore()

        /// The number of jobs that the task was split into: one, if it never left the thread.
        var count: Int { jobs.value }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.add()
            queue.withLock { $0.append(job) }
            signal.signal()
        }

        /// Runs jobs on the calling thread until `isDone`, which a job makes true.
        func run(until isDone: () -> Bool) {
            while !isDone() {
                signal.waitForever()
                let job = queue.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if let job { job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }

    static let cases: [(StorageDomain, SecurityPolicy)] = [
        (.userDefaults(), .recommended), (.encryptedFileSystem(), .none),
        (.keychain(service: "s"), .keychain(accessibility: .always)),
        (.keychain(service: "s"), .encrypted(.aes256())),
        (.fileSystem(), .encrypted(.external(source: PolicyCases.source))),
    ]

    /// The number of jobs that 25 reads take on one thread.
    private func jobs(_ router: StorageRouter, _ key: StorageKey<Data>) async throws -> Int {
        let executor = OneThread()
        let done = Counter()
        let outcome = MutexBox<Result<Void, any Error>?>(nil)
        let task = Task(executorPreference: executor) {
            defer { done.add() }
            let thread = pthread_self()
            do {
                for _ in 0..<25 {
                    let value = try await router.get(key)
                    guard value.count == 128, pthread_equal(pthread_self(), thread) != 0 else {
                        throw StorageError(.unknown, "the task came back on another thread")
                    }
                }
                outcome.withLock { $0 = .success(()) }
            } catch { outcome.withLock { $0 = .failure(error) } }
        }
        await withTaskExecutorPreference(WaitingThreads.shared) { executor.run { done.value > 0 } }
        await task.value
        try outcome.withLock { $0 }?.get()
        return executor.count
    }

    @Test("once the ring is known, a read stays on its thread", arguments: cases.indices)
    func inline(_ index: Int) async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let key = Self.bytesKey("k", Self.cases[index].0, Self.cases[index].1)
        for _ in 0..<2 {
            let router = try home.router()
            await router.registerKeyMaterialProvider(TestMaterial(byte: 1), for: PolicyCases.source)
            try await router.set(Data(count: 128), for: key)
            #expect(try await router.get(key).count == 128)
            #expect(try await jobs(router, key) == 1)
        }
    }

    @Test("a slow derivation is left to threads that may wait")
    func slow() async throws {
        let home = try SealedHome()
        defer { home.remove() }
        let router = try home.router()
        // So many iterations that the derivation never ends before the waiting thread is released, however busy the
        // machine is.
        let key = Self.bytesKey(
            "k", .userDefaults(), .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 400_000))))
        try await router.set(Data(count: 128), for: key)
        #expect(try await jobs(router, key) > 25)
    }
}

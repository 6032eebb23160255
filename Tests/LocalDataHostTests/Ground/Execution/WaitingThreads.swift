import Glibc
import Synchronization
import Testing

@testable import HostGround
@testable import LocalDataHost

/// A few threads for tests that wait for compilers and other programs. On Swift's own pool, which has one thread for
/// each core, they would stop concurrent tests, and tests that measure whether tasks proceed would measure that.
final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads(count: 3)

    private let queue = Mutex(WorkQueue<UnownedJob>())
    private let semaphore = IdleSemaphore()

    private init(count: Int) {
        for _ in 0..<count {
            var thread = pthread_t()
            let failure = pthread_create(&thread, nil, runWaitingThread, Unmanaged.passRetained(self).toOpaque())
            if failure == 0 { pthread_detach(thread) }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.withLock { $0.append(job) }
        semaphore.signal()
    }

    fileprivate func runForever() {
        while true {
            semaphore.waitForever()
            if let job = queue.withLock({ $0.popFirst() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

private func runWaitingThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<WaitingThreads>.fromOpaque(context).takeUnretainedValue().runForever() }
    return nil
}

/// Runs the tests of a suite on ``WaitingThreads``.
struct WaitingTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

extension Trait where Self == WaitingTrait {
    /// The trait for tests that wait for other programs.
    static var waitsForPrograms: Self { WaitingTrait() }
}

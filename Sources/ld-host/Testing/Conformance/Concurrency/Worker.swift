internal import Glibc
internal import Synchronization

/// A thread of a check's own: many concurrent calls to a store must not depend on the number of threads in Swift's
/// pool.
final class Worker: Sendable {
    private struct State {
        var result: Result<Void, any Error>?
        var isJoined = false
    }
    private let state = Mutex(State())
    private let done = Gate()
    private let body: @Sendable () throws -> Void
    private let thread = Mutex(pthread_t())

    /// Starts `body` on a new thread.
    init(_ body: @escaping @Sendable () throws -> Void) throws {
        self.body = body
        let context = Unmanaged.passRetained(self)
        let status = thread.withLock { pthread_create(&$0, nil, runWorker, context.toOpaque()) }
        guard status == 0 else {
            context.release()
            throw ConformanceFailure("no thread could be created (\(String(cString: strerror(status))))")
        }
    }

    fileprivate func run() {
        let result = Result { try body() }
        state.withLock { $0.result = result }
        done.open()
    }

    /// Waits for some time; `false` if the thread is still running. Throws what `body` threw.
    func finishes(within time: Duration) throws -> Bool {
        guard done.wait(for: time) else { return false }
        try join()
        return true
    }

    /// Waits for the end of the thread and throws what `body` threw. May be called again.
    func join() throws {
        let mustJoin = state.withLock { state in
            defer { state.isJoined = true }
            return !state.isJoined
        }
        if mustJoin { pthread_join(thread.withLock { $0 }, nil) }
        try state.withLock { $0.result }?.get()
    }

    /// Runs `body` on a new thread and returns its result.
    static func result<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try Worker {
                    pthread_detach(pthread_self())
                    continuation.resume(with: Result { try body() })
                }
            } catch { continuation.resume(throwing: error) }
        }
    }

    /// Runs `body` on this many threads at once, with their numbers, and throws the first error.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let start = Gate()
        let workers = try (0..<count).map { index in
            try Worker {
                start.wait()
                try body(index)
            }
        }
        start.open()
        var failure: (any Error)?
        for worker in workers {
            do { try worker.join() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

private func runWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<Worker>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}

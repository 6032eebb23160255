internal import LocalDataAPI
internal import Synchronization

extension IOExecutor {
    /// Makes a call and waits for it on this thread: for synchronous code, such as a callback from C.
    ///
    /// ```swift
    /// let token = try IOExecutor.blocking { try await StorageRouter.shared.get(.token) }
    /// ```
    ///
    /// A thread that waits for a task is blocked. Swift's pool has one thread per core, so a few such callers could
    /// block all of them, and their tasks would never run. This executor makes the call without a thread of that pool,
    /// so any number of callers may wait. If the main thread waits, no part of the call may need the main actor.
    /// Deadlines of network stores have their own thread.
    ///
    /// - Throws: What the call throws; `unsupported` on a thread of this executor, whose tasks can await the call.
    @available(*, noasync, message: "await the call")
    public static func blocking<Value: Sendable>(
        _ call: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        guard !isCurrent else {
            throw StorageError(
                .unsupported, "a task of IOExecutor must not block one of its threads", hint: "await the call there")
        }
        let end = Mutex<Result<Value, any Error>>(.failure(StorageError.cancelled))
        let isDone = IdleSemaphore()
        Task.detached(executorPreference: shared) {
            do {
                let value = try await call()
                end.withLock { $0 = .success(value) }
            } catch {
                end.withLock { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.waitForever()
        return try end.withLock { $0 }.get()
    }
}

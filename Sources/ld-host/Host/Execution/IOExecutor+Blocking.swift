internal import LocalDataAPI
internal import Synchronization

extension IOExecutor {
    /// Makes a call and waits for it on this thread: for code that is not async, such as a callback from C.
    ///
    /// ```swift
    /// let token = try IOExecutor.blocking { try await StorageRouter.shared.get(.token) }
    /// ```
    ///
    /// A thread that waits for a task holds that thread. If it is one of Swift's pool, which has as many as the machine
    /// has cores, a few such callers leave none for their own tasks, and all of them wait for ever. The call is made on
    /// this executor, which needs no thread of that pool, so that any number of callers may wait. Nothing of the call
    /// may be on the main actor if it is the main thread that waits. Deadlines of network stores are kept by a thread
    /// of their own.
    ///
    /// - Throws: What the call throws; `unsupported` on a thread of this executor, whose tasks can await the call.
    @available(*, noasync, message: "await the call")
    public static func blocking<Value: Sendable>(
        _ call: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        guard !isCurrent else {
            throw StorageError(
                .unsupported, "a task of IOExecutor is not to block one of its threads", hint: "await the call there")
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

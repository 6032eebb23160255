internal import LocalDataPluginAPI
internal import Synchronization

/// Lets one thread at a time unlock, while the others wait for its result.
final class Unlocking: Sendable {
    private let attempt = Mutex<Promise<Result<Void, StorageError>>?>(nil)

    /// Runs `body`, or waits for the thread that runs it. All of them get its error.
    func once(until deadline: BusDeadline, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        let (promise, isMine) = attempt.withLock { attempt in
            if let promise = attempt { return (promise, false) }
            let promise = Promise<Result<Void, StorageError>>()
            attempt = promise
            return (promise, true)
        }
        guard isMine else {
            guard let result = promise.wait(until: deadline) else {
                throw StorageError(.timedOut, "another call is still waiting to unlock a collection")
            }
            return try result.get()
        }
        let result: Result<Void, StorageError>
        do throws(StorageError) { result = .success(try body()) } catch { result = .failure(error) }
        attempt.withLock { $0 = nil }
        promise.keep(result)
        try result.get()
    }
}

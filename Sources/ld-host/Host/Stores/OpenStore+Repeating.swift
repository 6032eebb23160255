internal import Glibc
internal import LocalDataAPI

/// A store that is read inline never waits there: it throws `busy`, and a thread that may wait tries again.
extension OpenStore {
    /// Whether an error of an inline read only means that it would have had to wait.
    func isBusyForNow(_ error: StorageError) -> Bool {
        error.code == .busy && store.properties.latency == .disk
    }

    /// Retries a read for about two seconds. Sleeps in between, so only for threads that may wait.
    func repeating<Value>(_ read: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        for pause in Self.pauses {
            do throws(StorageError) { return try read() } catch {
                guard isBusyForNow(error) else { throw error }
            }
            usleep(pause)
        }
        return try read()
    }

    /// In microseconds.
    private static let pauses: [UInt32] =
        [500, 1000, 2000, 5000, 10_000, 20_000, 50_000] + Array(repeating: 100_000, count: 19)
}

internal import Glibc
internal import LocalDataAPI

/// A store that reads inline never waits for others there: it says `busy`, and is asked again by a thread that may
/// wait.
extension OpenStore {
    /// Whether an error of a read inline only says that it would have had to wait.
    func isBusyForNow(_ error: StorageError) -> Bool {
        error.code == .busy && store.properties.latency == .disk
    }

    /// Reads until it succeeds, for about two seconds. Waits in between, so only for threads that may.
    func repeating<Value>(_ read: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        for pause in Self.pauses {
            do throws(StorageError) { return try read() } catch {
                guard isBusyForNow(error) else { throw error }
            }
            usleep(pause)
        }
        return try read()
    }

    /// Microseconds.
    private static let pauses: [UInt32] =
        [500, 1000, 2000, 5000, 10_000, 20_000, 50_000] + Array(repeating: 100_000, count: 19)
}

import Synchronization

/// The connections for reading that nobody uses at the moment.
final class Readers: Sendable {
    /// How many are kept. More are opened for threads that read at once, and closed when they are done.
    private static let most = 8

    private let idle = Mutex<[Connection]>([])

    /// One of them, the one used last; `nil` if there is none.
    @inline(__always)
    func take() -> Connection? { idle.withLock { $0.popLast() } }

    /// Closes them.
    func close() {
        let closed = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        // Outside the lock.
        _ = closed
    }

    /// Gives one back.
    @inline(__always)
    func give(_ connection: Connection) {
        let isKept = idle.withLock { idle in
            guard idle.count < Self.most else { return false }
            idle.append(connection)
            return true
        }
        // Closed outside the lock, by its last owner.
        _ = isKept
    }
}

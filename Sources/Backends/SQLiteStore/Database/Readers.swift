import Synchronization

/// The connections for reading that nobody uses at the moment.
final class Readers: Sendable {
    /// How many are kept. More are opened for threads that read at once, and closed when they are done.
    private static let most = 8

    private struct State {
        var idle: [Connection] = []
        /// Counted up when all are to be closed.
        var era = 0
    }

    private let state = Mutex(State())

    /// One of them, the one used last; `nil` if there is none.
    @inline(__always)
    func take() -> Connection? { state.withLock { $0.idle.popLast() } }

    /// What ``Connection/era`` is for one that is opened now.
    var era: Int { state.withLock { $0.era } }

    /// Closes them, and those that are in use when they are given back.
    func close() {
        let closed = state.withLock { state in
            defer { state.idle = [] }
            state.era += 1
            return state.idle
        }
        // Outside the lock.
        _ = closed
    }

    /// Gives one back.
    @inline(__always)
    func give(_ connection: Connection) {
        let isKept = state.withLock { state in
            guard connection.era == state.era, state.idle.count < Self.most else { return false }
            state.idle.append(connection)
            return true
        }
        // Closed outside the lock, by its last owner.
        _ = isKept
    }
}

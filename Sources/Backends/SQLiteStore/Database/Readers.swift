import DurableFiles
import Synchronization

/// The idle connections for reading.
final class Readers: Sendable {
    /// The most connections to keep. More are opened for concurrent readers, and closed afterwards.
    private static let most = 8

    private struct State {
        var idle: [DatabaseConnection] = []
        /// Incremented to close all of them.
        var era = 0
    }

    private let state = Mutex(State())

    /// The most recently used connection; `nil` if absent.
    @inline(__always)
    func take() -> DatabaseConnection? { state.withLock { $0.idle.popLast() } }

    /// The ``DatabaseConnection/era`` of a connection that is opened now.
    var era: Int { state.withLock { $0.era } }

    /// Closes the idle ones, and those in use when they are returned.
    func close() {
        let closed = state.withLock { state in
            defer { state.idle = [] }
            state.era += 1
            return state.idle
        }
        // Outside the lock.
        _ = closed
    }

    /// Returns a connection.
    @inline(__always)
    func give(_ connection: DatabaseConnection) {
        let isKept = state.withLock { state in
            guard connection.era == state.era, state.idle.count < Self.most else { return false }
            state.idle.append(connection)
            return true
        }
        // Closed outside the lock, by its last owner.
        _ = isKept
    }
}

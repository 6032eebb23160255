import DurableFiles
import Synchronization

/// The idle connections for reading.
final class Readers: Sendable {
    /// The most connections to keep. More are opened for concurrent readers, and closed afterwards.
    private static let most = 8

    private struct Opened: Sendable {
        weak var connection: DatabaseConnection?
    }

    private struct State {
        var idle: [DatabaseConnection] = []
        /// Incremented to close all of them.
        var era = 0
        /// All that are open, and some that no longer are.
        var opened: [Opened] = []
        /// Those that share the log's index with what ``renew()`` has closed. As long as one of them is open, a new one
        /// shares it, too.
        var outdated: [Opened] = []

        /// Whether a connection that is opened now would be one of the outdated.
        mutating func isOutdated() -> Bool {
            guard !outdated.isEmpty else { return false }
            outdated.removeAll { $0.connection == nil }
            return !outdated.isEmpty
        }
    }

    private let state = Mutex(State())

    /// The most recently used connection; `nil` if absent.
    @inline(__always)
    func take() -> DatabaseConnection? { state.withLock { $0.idle.popLast() } }

    /// The ``DatabaseConnection/era`` of a connection that is opened now.
    var era: Int { state.withLock { $0.era } }

    /// Notes a connection that was opened.
    func note(_ connection: DatabaseConnection) {
        state.withLock { state in
            state.opened.removeAll { $0.connection == nil }
            if state.isOutdated() { state.outdated.append(Opened(connection: connection)) }
            state.opened.append(Opened(connection: connection))
        }
    }

    /// Closes the idle ones, and those in use when they are returned.
    func close() { end { _ in } }

    /// Closes them, and all that are opened before those in use are closed: SQLite lets all connections of a process
    /// share the log's index, as it was opened first.
    func renew() { end { $0.outdated = $0.opened } }

    private func end(_ change: (inout State) -> Void) {
        let closed = state.withLock { state in
            defer { state.idle = [] }
            state.era += 1
            change(&state)
            return state.idle
        }
        // Outside the lock.
        _ = closed
    }

    /// Returns a connection.
    @inline(__always)
    func give(_ connection: DatabaseConnection) {
        let isKept = state.withLock { state in
            guard connection.era == state.era, state.idle.count < Self.most, !state.isOutdated() else { return false }
            state.idle.append(connection)
            return true
        }
        // Closed outside the lock, by its last owner.
        _ = isKept
    }
}

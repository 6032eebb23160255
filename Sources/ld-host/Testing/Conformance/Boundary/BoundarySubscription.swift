internal import CLocalData
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// A subscription to a transport that records its notices.
final class BoundarySubscription: @unchecked Sendable {
    // The token is written once, in init; everything else is constant or locked.
    private struct State {
        var count = 0
        var waiting: [Gate] = []
        var isEnded = false
    }
    private let transport: LoadedTransport
    private let state = Mutex(State())
    private let notified: @Sendable () -> Void
    private var token: UnsafeMutableRawPointer?

    /// - Parameter notified: Called for each notice.
    init(_ transport: LoadedTransport, _ notified: @escaping @Sendable () -> Void) throws {
        self.transport = transport
        self.notified = notified
        // Never released: a transport that still notifies after the end must fail the check, not crash.
        let context = Unmanaged.passRetained(self).toOpaque()
        var found: UnsafeMutableRawPointer?
        try Observation { _, error in
            var subscriber = ld_sync_subscriber(
                size: UInt32(MemoryLayout<ld_sync_subscriber>.size), context: context, notify: tellSubscriber)
            return transport.table.subscribe(transport.table.`self`, &subscriber, &found, error)
        }.succeeded()
        token = found
    }

    /// The number of notices so far.
    var notices: Int { state.withLock { $0.count } }

    /// Waits for a notice besides those that were counted before; `false` if that took too long.
    func hears(after count: Int, within time: Duration) -> Bool {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.count > count { return true }
            state.waiting.append(gate)
            return false
        }
        return isThere || gate.wait(for: time)
    }

    /// Ends the subscription, once.
    func end() {
        let wasEnded = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded
        }
        if !wasEnded { transport.table.unsubscribe(transport.table.`self`, token) }
    }

    fileprivate func tell() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for gate in waiting { gate.open() }
        notified()
    }
}

private func tellSubscriber(context: UnsafeMutableRawPointer?, notice: Int32) {
    guard let context else { return }
    Unmanaged<BoundarySubscription>.fromOpaque(context).takeUnretainedValue().tell()
}

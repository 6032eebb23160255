internal import Synchronization

/// Keeps the link of one store: created at the first call that needs it, and again after it was lost.
final class LinkKeeper: Sendable {
    private struct State {
        var link: ServiceLink?
        var opening: Opening?
    }

    private let seconds: Double
    private let bus: String
    private let state = Mutex(State())

    /// - Parameters:
    ///   - seconds: The time limit for connecting.
    ///   - bus: The address of the bus; empty for the session bus.
    init(seconds: Double, bus: String) {
        self.seconds = seconds
        self.bus = bus
    }

    /// The link; connects if there is no link yet, at most one attempt at a time.
    func link(until deadline: BusDeadline) throws(BusFailure) -> ServiceLink {
        let (link, opening) = state.withLock { state -> (ServiceLink?, Opening?) in
            if let link = state.link, !link.isClosed, !link.isUseless { return (link, nil) }
            state.link = nil
            if let opening = state.opening, !opening.isUseless { return (nil, opening) }
            let opening = Opening(seconds: seconds, bus: bus)
            state.opening = opening
            return (nil, opening)
        }
        if let link { return link }
        guard let opening else { throw BusFailure.silent }
        let opened = try opening.wait(until: deadline)
        state.withLock { state in
            guard state.opening === opening else { return }
            state.link = opened
            state.opening = nil
        }
        return opened
    }

    /// Drops a link that no longer works.
    func drop(_ link: ServiceLink) {
        state.withLock { state in if state.link === link { state.link = nil } }
    }
}

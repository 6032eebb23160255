internal import LocalDataPluginAPI
internal import ServerAccess

/// The only link of a frozen store: in a transaction that sees one moment, from its first use to the end of the store.
final class FrozenLink {
    fileprivate enum State {
        case unused
        case idle(ServerLink)
        case lent
    }

    fileprivate var state = State.unused

    init() {}
}

extension Pool {
    /// Lends the link of a frozen store. The caller has the lock of the pool's queue, or is the only one to use it.
    ///
    /// - Throws: `busy` if it is lent; `storeUnavailable` if the connection was lost, and with it the moment.
    func takeFrozen(until deadline: Deadline) throws -> ServerLink {
        switch frozen.state {
        case .lent:
            throw StorageError(
                .busy, "the frozen store at \(hosts) is being read by another thread", hint: "read it by one at a time")
        case .idle(let link):
            guard link.isConnected else {
                throw StorageError(
                    .storeUnavailable, "the connection to \(link.host) was lost, and with it the moment that was read",
                    hint: "try again from the start")
            }
            frozen.state = .lent
            return link
        case .unused:
            let link = try open(until: deadline)
            // The transaction sees the moment of its first read.
            try link.exchange([StatementCall(.beginReading)], until: deadline)
            try link.exchange([StatementCall(.places, [.short(0), .integer(1)])], until: deadline)
            frozen.state = .lent
            return link
        }
    }

    func giveFrozen(_ link: ServerLink) { frozen.state = .idle(link) }
}

internal import ByteCoding
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// A lock that is held by a connection. Behind a pooler a transaction holds it, because nothing else is the link's own.
final class NameLock: Sendable {
    private let link: Mutex<ServerLink?>
    private let number: Int64

    private init(_ link: ServerLink, _ number: Int64) {
        self.link = Mutex(link)
        self.number = number
    }

    /// Takes the lock; `nil` if another holds it all the time.
    static func take(_ number: Int64, on link: ServerLink, _ pool: Pool, waiting wait: Duration) throws -> NameLock? {
        let milliseconds = Int64(max(0, min(wait / .milliseconds(1), 86_400_000)))
        let deadline = Deadline(seconds: pool.options.timeout + Double(milliseconds) / 1000)
        let parameters: [Parameter] = [.integer(number)]
        do {
            if link.isPooled {
                try link.exchange([StatementCall(.begin)], until: deadline)
            } else if milliseconds == 0 {
                let answer = try link.exchange([StatementCall(.tryLock, parameters)], until: deadline).first
                return answer?.integer(0) == 1 ? NameLock(link, number) : nil
            }
            let limit = StatementCall(.waitLimit, [.integer(max(1, milliseconds))])
            try link.exchange(
                [limit, StatementCall(link.isPooled ? .lockInTransaction : .lock, parameters)], until: deadline)
            return NameLock(link, number)
        } catch LinkFailure.refused(let error) where error.state == "55P03" { return nil }
    }

    /// Whether the connection that holds the lock is alive.
    func isHeld(until deadline: Deadline) -> Bool {
        link.withLock { link in
            if (try? link?.exchange([StatementCall(.ping)], until: deadline)) == nil { link = nil }
            return link != nil
        }
    }

    /// Gives the lock back.
    func end(until deadline: Deadline) {
        link.withLock { link in
            let call = link?.isPooled ?? false ? StatementCall(.rollback) : StatementCall(.unlock, [.integer(number)])
            _ = try? link?.exchange([call], until: deadline)
            link = nil
        }
    }

    /// The number of a lock, the same on every machine.
    static func number(of name: String, in place: StorageNamespace, _ schema: String) -> Int64 {
        Int64(bitPattern: StableHash.of([schema, place.domain, place.scope, name]))
    }
}

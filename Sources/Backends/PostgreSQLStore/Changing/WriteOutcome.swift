internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

/// What became of changes whose answer is missing because the connection was lost.
///
/// The server may have made them, may be making them, or may still receive them. So they are first fenced off, in a way
/// that depends on the lost link:
///
/// - Without a pooler, the link's server process holds a lock until it ends. It is asked to end, and the lock is
///   awaited: then it makes nothing any more.
/// - Behind a pooler, each transaction begins with `enter`, which shares a lock with the number of the write. That lock
///   is awaited, and a row in the table `fence` lets a later `enter` fail.
///
/// The row is written in both cases. Its commit waits for a synchronous standby, which then has all earlier changes,
/// too. A server process that is asked to end stops waiting for the standby, although its change is then visible.
///
/// Only then does it count whether the link's row in the table `mark` has the number of the write. Each transaction
/// that changes something writes it there. The stored value shows nothing: another user may have replaced or removed it
/// since, and a repetition would then destroy what that user stored.
///
/// Everything has to end within the deadline; otherwise nobody knows.
enum WriteOutcome {
    /// The changes were made. Others may have replaced them since.
    ///
    /// - Parameter found: Whether the last change found a value that had not expired.
    case done(found: Bool)
    /// Nothing was changed, and nothing will be.
    case notDone
    case unknown

    /// Finds the outcome through a new connection.
    ///
    /// - Parameters:
    ///   - write: The first write of the transaction.
    ///   - old: The link that was lost.
    static func of(_ write: Write, on old: ServerLink, _ pool: Pool, until deadline: Deadline) -> WriteOutcome {
        while true {
            do {
                return try find(write.revision, old, pool, deadline)
            } catch LinkFailure.lost where deadline.left > 100_000_000 {
                // The server may be back in time. What was done so far can be repeated.
                usleep(50_000)
            } catch { return .unknown }
        }
    }

    private static func find(_ entry: Int64, _ old: ServerLink, _ pool: Pool, _ deadline: Deadline) throws
        -> WriteOutcome
    {
        // The lost link may be the only one that the pool may open, and it is not yet returned.
        let link = try pool.open(until: deadline)
        // A standby may lag behind.
        guard try link.exchange([StatementCall(.session)], until: deadline).first?.integer(3) == 0 else {
            return .unknown
        }
        let limit = StatementCall(.waitLimit, [.integer(Int64(max(1, deadline.milliseconds - 100)))])
        if !old.isPooled { try link.exchange([StatementCall(.endSession, [.integer(old.session)])], until: deadline) }
        let wait =
            old.isPooled
            ? StatementCall(.awaitWrite, [.integer(entry)]) : StatementCall(.awaitSession, [.integer(old.session)])
        let fence = [limit, wait, StatementCall(.fence, [.integer(entry)]), StatementCall(.cleanFences)]
        do {
            try link.exchange(fence, until: deadline.part(of: 2))
        } catch {
            // A server process that waits for a standby does not notice that its client is gone.
            if !link.isPooled { end(link, pool, deadline) }
            if case .lost(let loss) = error, loss.isLate { return .unknown }
            throw error
        }
        let mark = try link.exchange([StatementCall(.marked, [.integer(old.session)])], until: deadline).first
        guard let mark, mark.count == 1, mark.integer(0) == entry else { return .notDone }
        return .done(found: mark.integer(1) != 0)
    }

    /// Ends a link's server process, if that is possible.
    private static func end(_ link: ServerLink, _ pool: Pool, _ deadline: Deadline) {
        guard let other = try? pool.open(until: deadline) else { return }
        _ = try? other.exchange([StatementCall(.endSession, [.integer(link.session)])], until: deadline)
    }
}

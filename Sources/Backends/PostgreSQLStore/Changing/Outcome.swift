internal import Glibc
internal import LocalDataAPI
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
/// Only then does it count what is stored. Everything has to end within the deadline; otherwise nobody knows.
enum Outcome {
    case done
    /// Nothing was changed, and nothing will be. If another user has replaced the value since, it counts as this, too:
    /// the outcome is the same.
    case notDone
    case unknown

    /// Finds the outcome through a new connection.
    ///
    /// - Parameter old: The link that was lost.
    static func of(_ writes: [Write], on old: Link, _ pool: Pool, until deadline: Deadline) -> Outcome {
        guard let write = writes.first else { return .unknown }
        while true {
            do {
                return try find(writes, entry: write.revision, old, pool, deadline)
            } catch LinkFailure.lost where deadline.left > 100_000_000 {
                // The server may be back in time. What was done so far can be repeated.
                usleep(50_000)
            } catch { return .unknown }
        }
    }

    private static func find(
        _ writes: [Write], entry: Int64, _ old: Link, _ pool: Pool, _ deadline: Deadline
    ) throws -> Outcome {
        // The lost link may be the only one that the pool may open, and it is not yet returned.
        let link = try pool.open(until: deadline)
        // A standby may lag behind.
        guard try link.exchange([Call(.session)], until: deadline).first?.integer(3) == 0 else { return .unknown }
        let limit = Call(.waitLimit, [.integer(Int64(max(1, deadline.milliseconds - 100)))])
        if !old.isPooled { try link.exchange([Call(.endSession, [.integer(old.session)])], until: deadline) }
        let wait =
            old.isPooled
            ? Call(.awaitWrite, [.integer(entry)]) : Call(.awaitSession, [.integer(old.session)])
        let fence = [limit, wait, Call(.fence, [.integer(entry)]), Call(.cleanFences)]
        do {
            try link.exchange(fence, until: deadline.part(of: 2))
        } catch {
            // A server process that waits for a standby does not notice that its client is gone.
            if !link.isPooled { end(link, pool, deadline) }
            if case .lost(let loss) = error, loss.isLate { return .unknown }
            throw error
        }
        return try read(writes, link, deadline)
    }

    /// Ends a link's server process, if that is possible.
    private static func end(_ link: Link, _ pool: Pool, _ deadline: Deadline) {
        guard let other = try? pool.open(until: deadline) else { return }
        _ = try? other.exchange([Call(.endSession, [.integer(link.session)])], until: deadline)
    }

    /// Compares what is stored with the last change of up to 64 names.
    private static func read(_ writes: [Write], _ link: Link, _ deadline: Deadline) throws -> Outcome {
        var names: Set<[UInt8]> = []
        let last = writes.reversed().prefix(64).filter { write in
            withUnsafeBytes(of: write.number) { names.insert(Array($0) + Array(write.name)).inserted }
        }
        let calls = last.map { Call(.revision, [.short($0.number), .lent($0.name)]) }
        let answers = try link.exchange(calls, until: deadline)
        var verdict: Outcome?
        for (write, answer) in zip(last, answers) {
            let current = answer.count > 0 ? answer.integer(1) : nil
            switch write.action {
            case .set where current == write.revision: return .done
            case .set: verdict = verdict ?? write.verdict(current)
            case .remove where writes.count == 1 && current == nil: return .done
            case .remove where writes.count == 1:
                return write.condition == .anything ? .unknown : write.verdict(current)
            case .remove, .keep: break
            }
        }
        return verdict ?? .unknown
    }
}

extension Write {
    /// The outcome of a change that is not the current state.
    fileprivate func verdict(_ current: Int64?) -> Outcome {
        switch condition {
        case .anything: .notDone
        case .absent: current == nil ? .notDone : .unknown
        case .revision(let old): current == old ? .notDone : .unknown
        }
    }
}

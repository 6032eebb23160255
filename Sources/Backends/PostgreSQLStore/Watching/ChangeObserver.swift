internal import CPostgreSQL
internal import LocalDataPluginAPI
internal import ServerAccess

/// A connection that notices the changes of others. A standby sends no notifications, and its copy of the sequence is
/// ahead of the changes; there, everything may have changed whenever it has replayed more of the primary's log.
final class ChangeObserver {
    let link: ServerLink
    private let pool: Pool
    private let listener: Listener
    private let id = Int64.random(in: .min ... .max)
    /// The last number of the sequence, or position of the log, that was compared.
    private var last: Int64
    /// Transactions that may be about to commit a change whose number was compared.
    private var running: Set<Int64> = []
    private var renewal = Deadline(seconds: 0)

    /// Connects, and observes changes from now on.
    init(_ pool: Pool, _ listener: Listener) throws {
        (self.pool, self.listener) = (pool, listener)
        let deadline = pool.deadline()
        link = try pool.open(until: deadline)
        last = 0
        if !link.isPooled, !link.isStandby {
            try link.exchange([StatementCall(text: "LISTEN \"localdata_\(pool.options.schema)\"")], until: deadline)
        }
        (last, running) = try look()
    }

    /// Compares the sequence with what is known, and reports changes.
    func check() throws {
        let (number, current) = try look()
        var isChanged = number < last
        if number > last { isChanged = listener.takeOwn(last + 1...number) < number - last }
        let ended = running.subtracting(current)
        running.subtract(ended)
        if isChanged { running.formUnion(current) }
        last = number
        if isChanged || !ended.isEmpty { listener.tellAll() }
    }

    /// Takes the notifications that have arrived; `true` if there are any.
    func takeNotifications() throws(LinkFailure) -> Bool {
        guard PQconsumeInput(link.connection) == 1 else {
            throw .lost(Loss(host: link.host, reason: ConnectionMessage(link.connection).text))
        }
        var isNotified = false
        while let notification = PQnotifies(link.connection) {
            PQfreemem(notification)
            isNotified = true
        }
        return isNotified
    }

    /// The last number of the sequence, and the transactions that are running after it was read: one whose number was
    /// read is among them, or has ended.
    private func look() throws -> (Int64, Set<Int64>) {
        let deadline = pool.deadline()
        guard !link.isStandby else { return (try replayed(until: deadline), []) }
        var calls = [StatementCall(.changes)]
        if !link.isPooled, renewal.isOver {
            calls.insert(StatementCall(.addWatcher, [.integer(id)]), at: 0)
            renewal = Deadline(seconds: 30)
        }
        let number = try link.exchange(calls, until: deadline).last?.integer(0) ?? 0
        guard let rows = try link.exchange([StatementCall(.running)], until: deadline).first else {
            return (number, [])
        }
        return (number, Set((0..<rows.count).compactMap { rows.text(0, row: $0).flatMap { Int64($0) } }))
    }

    /// How far a standby has replayed the log.
    private func replayed(until deadline: Deadline) throws -> Int64 {
        guard let answer = try link.exchange([StatementCall(.replayed)], until: deadline).first, answer.integer(0) != 0
        else {
            throw LinkFailure.lost(Loss(host: link.host, reason: "it is a standby no longer"))
        }
        return answer.integer(1)
    }
}

internal import CPostgreSQL
internal import Glibc
internal import ServerAccess

/// A connection to the server. One thread at a time uses it: the pool lends it.
///
/// Statements are sent in libpq's pipeline mode. All those of one exchange that are outside of an explicit transaction
/// are one transaction, which the server commits at the end of the exchange.
final class ServerLink: @unchecked Sendable {
    // The pool lends a link to one thread at a time.
    let connection: OpaquePointer
    /// The host, for messages.
    let host: String
    /// Whether the pool has lent it for a value in pieces.
    var isStream = false
    /// Whether a pooler may pass each transaction to another server process, so that nothing else belongs to the link.
    var isPooled = true
    /// Whether the server was a standby, which only reads, when the link connected.
    var isStandby = false
    /// The link's own number. Its row in the table `mark` has it, and so has the advisory lock that a link without a
    /// pooler holds until its server process has ended.
    let session = Int64.random(in: .min ... .max)
    /// The settings by which the server may lose confirmed changes in a power loss.
    var risks: [String] = []
    private let statements: StatementTexts
    private let prepares: Bool
    /// Whether each statement is prepared, by its number.
    private var prepared = Array(repeating: false, count: StoreStatement.allCases.count)
    private var isStale = false
    private var parameters = ParameterBlock()
    private var hasChanged = false

    /// Takes over a connection in pipeline mode.
    init(_ connection: OpaquePointer, host: String, statements: StatementTexts, prepares: Bool) {
        self.connection = connection
        self.host = host
        self.statements = statements
        self.prepares = prepares
    }

    deinit { PQfinish(connection) }

    /// Whether the link is outside of a transaction, and its last call did not end it.
    var isIdle: Bool {
        !isStale && PQstatus(connection) == CONNECTION_OK && PQtransactionStatus(connection) == PQTRANS_IDLE
    }

    /// Whether the link is idle and its server has not ended it meanwhile.
    var isUsable: Bool { isIdle && isConnected }

    /// Whether its server has not ended it meanwhile, in a transaction or outside of one.
    var isConnected: Bool {
        guard PQstatus(connection) == CONNECTION_OK else { return false }
        // A server that ends a connection says so first; an idle link has nothing else to read.
        var entry = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }

    /// Whether the link's first change, which begins now, must remove old marks. One link of 16 does so.
    func mustCleanMarks() -> Bool {
        defer { hasChanged = true }
        return !hasChanged && session & 15 == 0
    }

    /// Sends statements and waits for all answers, one for each.
    ///
    /// - Throws: ``LinkFailure``. After `refused`, the statements of the exchange have no effect; an explicit
    ///   transaction stays open, and failed.
    @discardableResult
    func exchange(_ calls: [StatementCall], until deadline: Deadline) throws(LinkFailure) -> [ResultRows] {
        guard isPooled, PQtransactionStatus(connection) == PQTRANS_IDLE else {
            return try exchanged(calls, until: deadline)
        }
        // Behind a pooler, no setting is the link's own: each transaction sets where names are looked up.
        let begin = calls.first?.statement
        let place = begin == .begin || begin == .beginReading ? 1 : 0
        var calls = calls
        calls.insert(StatementCall(.confine), at: place)
        var answers = try exchanged(calls, until: deadline)
        answers.remove(at: place)
        return answers
    }

    private func exchanged(_ calls: [StatementCall], until deadline: Deadline) throws(LinkFailure) -> [ResultRows] {
        var expected: [Expected] = []
        var new: Set<StoreStatement> = []
        for call in calls {
            let statement = call.statement
            if usesPrepared(statement), !prepared[statement.rawValue], new.insert(statement).inserted {
                try sent(PQsendPrepare(connection, statement.name, statements[statement], 0, nil), !expected.isEmpty)
                expected.append(.preparation(of: statement))
            }
            try sent(send(call), !expected.isEmpty)
            expected.append(.answer)
            if parameters.size > 64 << 10 { try flushSome() }
        }
        try sent(PQpipelineSync(connection), true)
        return try answers(expected, until: deadline)
    }

    /// The result that the server sends next.
    private enum Expected {
        case answer
        case preparation(of: StoreStatement)
    }

    private func usesPrepared(_ statement: StoreStatement) -> Bool { prepares && !isPooled && statement.isPrepared }

    private func send(_ call: StatementCall) -> Int32 {
        parameters.lend(call.parameters) { count, values, lengths, formats in
            usesPrepared(call.statement)
                ? PQsendQueryPrepared(connection, call.statement.name, count, values, lengths, formats, 1)
                : PQsendQueryParams(
                    connection, call.text ?? statements[call.statement], count, nil, values, lengths, formats, 1)
        }
    }

    private func sent(_ result: Int32, _ wasSent: Bool) throws(LinkFailure) {
        if result != 1 { throw .lost(loss(wasSent: wasSent)) }
    }

    /// Sends what the socket accepts now, and reads what has arrived, so that neither side fills its buffers.
    private func flushSome() throws(LinkFailure) {
        guard PQflush(connection) >= 0, PQconsumeInput(connection) == 1 else { throw .lost(loss(wasSent: true)) }
    }

    private func answers(_ expected: [Expected], until deadline: Deadline) throws(LinkFailure) -> [ResultRows] {
        var answers: [ResultRows] = []
        var (index, refusal) = (0, ServerError?.none)
        while true {
            try awaitResult(until: deadline)
            guard let result = PQgetResult(connection) else {
                if PQstatus(connection) != CONNECTION_OK { throw .lost(loss(wasSent: true)) }
                continue
            }
            let answer = ResultRows(result)
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                if let refusal { throw .refused(refusal) }
                return answers
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                switch index < expected.count ? expected[index] : .answer {
                case .answer: answers.append(answer)
                case .preparation(let statement): prepared[statement.rawValue] = true
                }
                index += 1
            case PGRES_PIPELINE_ABORTED: index += 1
            default:
                if PQstatus(connection) != CONNECTION_OK || ServerError.endsConnection(result) {
                    throw .lost(loss(wasSent: true, result))
                }
                let error = ServerError(result)
                refusal = refusal ?? error
                if error.isStalePlan { isStale = true }
                index += 1
            }
        }
    }

    /// Waits until the next result can be taken without waiting.
    private func awaitResult(until deadline: Deadline) throws(LinkFailure) {
        while true {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw .lost(loss(wasSent: true)) }
            if unsent == 0, PQisBusy(connection) == 0 { return }
            let events = POLLIN | (unsent > 0 ? POLLOUT : 0)
            guard Self.wait(for: events, on: PQsocket(connection), until: deadline) else {
                throw .lost(Loss(host: host, reason: "it did not answer in time", isLate: true, wasSent: true))
            }
            guard PQconsumeInput(connection) == 1 else { throw .lost(loss(wasSent: true)) }
            if PQisBusy(connection) == 0 { return }
        }
    }

    /// Waits for events of a socket; `false` if the deadline passes first.
    static func wait(for events: Int32, on socket: Int32, until deadline: Deadline) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            let count = poll(&entry, 1, deadline.milliseconds)
            if count > 0 { return true }
            if count == 0, deadline.isOver { return false }
            if count < 0, errno != EINTR { return false }
        }
    }

    private func loss(wasSent: Bool, _ result: OpaquePointer? = nil) -> Loss {
        let message = result.map { ServerError.field($0, UInt8(ascii: "M")) } ?? ""
        let reason = message.isEmpty ? ConnectionMessage(connection).text : message
        return Loss(host: host, reason: reason.isEmpty ? "the connection was closed" : reason, wasSent: wasSent)
    }
}

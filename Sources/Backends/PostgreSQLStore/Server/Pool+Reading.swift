internal import LocalDataPluginAPI
internal import ServerAccess

extension Pool {
    /// Reads on any link, and again on a new one if the connection is lost or a statement must be prepared again.
    ///
    /// - Parameters:
    ///   - work: The action and its object, for errors.
    ///   - body: May run several times; after it has passed anything on, it must not throw ``LinkFailure``.
    func read<Result>(_ work: @autoclosure () -> String, _ body: (ServerLink, Deadline) throws -> Result) throws
        -> Result
    {
        let deadline = deadline()
        var attempts = 0
        while true {
            attempts += 1
            var host: String?
            do {
                return try withLink(until: deadline, checked: attempts > 1) { link in
                    host = link.host
                    return try body(link, deadline)
                }
            } catch LinkFailure.refused(let error) {
                guard error.isConflict || error.isStalePlan, attempts <= options.poolSize, !deadline.isOver else {
                    throw StorageError(error, work(), host ?? hosts)
                }
            } catch LinkFailure.lost(let loss) {
                guard loss.wasSent, !loss.isLate, attempts <= Self.attempts, !deadline.isOver else {
                    throw StorageError(loss, work())
                }
            }
        }
    }

    /// How often a read is repeated after the loss of a connection.
    private static let attempts = 3

    /// Runs `body` in a transaction that sees one moment. Its statements have no effect. It may run the caller's code.
    ///
    /// - Parameter body: Uses a deadline of its own for each exchange. What it has passed on cannot be taken back, so
    ///   it is not repeated.
    func readMoment<Result>(_ work: @autoclosure () -> String, _ body: (ServerLink) throws -> Result) throws -> Result {
        let link = try momentLink(work())
        defer { give(link) }
        // All that a frozen store reads is of one moment.
        if options.isFrozen { return try reporting(work()) { try body(link) } }
        do {
            let result = try body(link)
            try link.exchange([StatementCall(.commit)], until: deadline())
            return result
        } catch LinkFailure.refused(let error) {
            _ = try? link.exchange([StatementCall(.rollback)], until: deadline())
            throw StorageError(error, work(), link.host)
        } catch LinkFailure.lost(let loss) {
            throw StorageError(loss, work())
        } catch {
            _ = try? link.exchange([StatementCall(.rollback)], until: deadline())
            throw error
        }
    }

    private func reporting<Result>(_ work: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch LinkFailure.refused(let error) {
            throw StorageError(error, work(), hosts)
        } catch LinkFailure.lost(let loss) {
            throw StorageError(loss, work())
        }
    }

    /// A link in a new transaction that sees one moment.
    private func momentLink(_ work: @autoclosure () -> String) throws -> ServerLink {
        let deadline = deadline()
        var attempts = 0
        while true {
            attempts += 1
            do {
                let link = try take(until: deadline, streaming: true)
                if options.isFrozen { return link }
                do {
                    try link.exchange([StatementCall(.beginReading)], until: deadline)
                    return link
                } catch {
                    give(link)
                    throw error
                }
            } catch LinkFailure.refused(let error) {
                throw StorageError(error, work(), hosts)
            } catch LinkFailure.lost(let loss) {
                guard loss.wasSent, !loss.isLate, attempts <= Self.attempts, !deadline.isOver else {
                    throw StorageError(loss, work())
                }
            }
        }
    }
}

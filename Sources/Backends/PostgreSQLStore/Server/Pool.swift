internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess
internal import Synchronization

/// The connections of a store. A thread borrows one for a call or a transaction.
///
/// The option `poolSize` bounds those that are lent for calls. A read or a write in pieces runs the caller's code while
/// it has its link, which may wait for others that need one: such links come on top, so that no wait is endless.
final class Pool: @unchecked Sendable {
    private struct Queue {
        var idle: [ServerLink] = []
        /// How many links are idle, lent, or being opened.
        var count = 0
        /// How many of them are not idle, for values in pieces.
        var streams = 0
    }

    let options: PostgreSQLOptions
    let statements: StatementTexts
    let schema: SchemaKeeper
    // The lock and the condition have fixed addresses as long as this object lives; `queue` changes under the lock.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let returned = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var queue = Queue()
    /// Used under the lock.
    let frozen = FrozenLink()
    private let log: any StorageLogHandler
    private let hasWarned = Atomic(false)

    /// - Parameter log: Receives a warning of a server that may lose confirmed changes.
    init(_ options: PostgreSQLOptions, log: any StorageLogHandler) {
        (self.options, self.log) = (options, log)
        statements = StatementTexts(schema: options.schema)
        schema = SchemaKeeper(options)
        lock.initialize(to: pthread_mutex_t())
        returned.initialize(to: pthread_cond_t())
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(returned, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(returned)
        pthread_mutex_destroy(lock)
        lock.deallocate()
        returned.deallocate()
    }

    /// The deadline of a call that begins now.
    func deadline() -> Deadline { Deadline(seconds: options.timeout) }

    /// Lends a link for the duration of `body`. One that is then lost or in a transaction is closed.
    ///
    /// - Parameter isChecked: As ``take(until:checked:)``.
    /// - Throws: `busy` if all links are lent until the deadline, ``LinkFailure`` if no server can be reached, and what
    ///   `body` throws.
    func withLink<Result>(
        until deadline: Deadline, checked isChecked: Bool = true, _ body: (ServerLink) throws -> Result
    ) throws -> Result {
        let link = try take(until: deadline, checked: isChecked)
        defer { give(link) }
        return try body(link)
    }

    /// Takes a link, which ``give(_:)`` returns.
    ///
    /// - Parameters:
    ///   - isChecked: Whether to leave out those that the server has ended meanwhile, which takes a system call. What
    ///     is repeated after the loss of a connection need not know that before.
    ///   - isStream: Whether the caller's code runs before the link is returned.
    func take(until deadline: Deadline, checked isChecked: Bool = true, streaming isStream: Bool = false) throws
        -> ServerLink
    {
        if options.isFrozen {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try takeFrozen(until: deadline)
        }
        while let idle = try idleLink(until: deadline, isStream) {
            if !isChecked || idle.isUsable {
                idle.isStream = isStream
                return idle
            }
            forget(isStream)
        }
        do {
            let link = try open(until: deadline)
            link.isStream = isStream
            return link
        } catch {
            forget(isStream)
            throw error
        }
    }

    /// Returns a link that ``take(until:checked:)`` lent. Whether the server has ended it is checked when it is taken
    /// again.
    func give(_ link: ServerLink) {
        if options.isFrozen {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return giveFrozen(link)
        }
        guard link.isIdle else { return forget(link.isStream) }
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if link.isStream { queue.streams -= 1 }
        if queue.count > options.poolSize { queue.count -= 1 } else { queue.idle.append(link) }
        pthread_cond_signal(returned)
    }

    /// An idle link, or `nil` if the caller must open one, which is counted.
    private func idleLink(until deadline: Deadline, _ isStream: Bool) throws -> ServerLink? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while true {
            let idle = queue.idle.popLast()
            if idle != nil || isStream || queue.count - queue.streams < options.poolSize {
                if idle == nil { queue.count += 1 }
                if isStream { queue.streams += 1 }
                return idle
            }
            var time = deadline.time
            guard pthread_cond_timedwait(returned, lock, &time) != ETIMEDOUT else {
                throw StorageError(
                    .busy, "all \(options.poolSize) connections to \(hosts) are in use",
                    hint: "try again, or raise option 'poolSize'")
            }
        }
    }

    private func forget(_ isStream: Bool) {
        pthread_mutex_lock(lock)
        queue.count -= 1
        if isStream { queue.streams -= 1 }
        pthread_cond_signal(returned)
        pthread_mutex_unlock(lock)
    }

    /// The hosts, for messages.
    var hosts: String { options.servers.map(\.name).joined(separator: ", ") }

    /// Connects to the first host that accepts it, and creates or upgrades the schema. Waits for a server that is
    /// starting or has too many connections. The caller owns the link.
    func open(until deadline: Deadline) throws -> ServerLink {
        var refusal: Loss?
        while true {
            do {
                let link = try anyHost(until: deadline)
                try schema.prepare(link, until: deadline)
                warn(of: link)
                return link
            } catch LinkFailure.lost(let loss) where Self.passes(loss) && deadline.left > 200_000_000 {
                refusal = loss
                usleep(100_000)
            } catch LinkFailure.lost(let loss) where loss.isLate {
                // What the server said before says more than that the time is over.
                throw LinkFailure.lost(refusal ?? loss)
            }
        }
    }

    /// Warns once of a server that may lose confirmed changes: no client can change that.
    private func warn(of link: ServerLink) {
        guard !link.risks.isEmpty, !hasWarned.exchange(true, ordering: .relaxed) else { return }
        let settings = link.risks.map { "\($0)=off" }.joined(separator: " and ")
        log(
            .warning, "postgresql",
            "the server at \(link.host) runs with \(settings), so a power loss may lose or damage what it has confirmed"
        )
    }

    private func anyHost(until deadline: Deadline) throws -> ServerLink {
        var last: Loss?
        for (index, server) in options.servers.enumerated() {
            do {
                let part = deadline.part(of: options.servers.count - index)
                return try ServerLink.open(server, options, statements, until: part)
            } catch LinkFailure.lost(var loss) {
                if let before = last { loss.reason = "\(loss.reason); \(before.host): \(before.reason)" }
                last = loss
            }
        }
        throw LinkFailure.lost(last ?? Loss(host: "", reason: "there is no host"))
    }

    /// Whether a server will soon accept connections: it is starting or stopping, or has too many.
    private static func passes(_ loss: Loss) -> Bool { ["57P03", "53300"].contains(loss.state) }
}

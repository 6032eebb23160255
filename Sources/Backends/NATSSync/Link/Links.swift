internal import LocalDataPluginAPI
internal import Synchronization

/// The links of a transport: one at a time, and another one when it was lost.
final class Links: Sendable {
    let options: NATSOptions
    /// The last sequences of subjects.
    let subjects = SubjectTable()
    /// The end of the stream as far as it is known.
    let end = StreamEnd()
    let log: any StorageLogHandler
    private let current = Mutex<NATSLink?>(nil)
    private let hasWarned = Atomic(false)

    /// - Parameter log: Gets a warning of a server that may lose acknowledged records.
    init(_ options: NATSOptions, log: any StorageLogHandler) { (self.options, self.log) = (options, log) }

    /// Runs `body` on a link whose stream was checked.
    ///
    /// - Parameter warns: Whether to warn of a server that may lose acknowledged records. A program that only continues
    ///   need not: its user knows by then.
    func session<Result>(
        _ call: LinkCall, _ names: BucketNames, warns: Bool = false,
        _ body: (LinkSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let link = try usable()
        try link.open(for: call)
        let session = try LinkSession(link, call, options)
        defer { session.end() }
        try session.prepare(names, end)
        if warns { warn(of: link) }
        return try body(session)
    }

    /// Warns once of a server that may lose acknowledged records: no client can change that.
    private func warn(of link: NATSLink) {
        guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
        let advice = ServerAdvice(link, options)
        if let warning = advice.warning(syncsAlways: options.syncsAlways) { log(.warning, "nats", warning) }
    }

    /// The link, or a new one that is connecting.
    private func usable() throws(StorageError) -> NATSLink {
        try current.withLock { current throws(StorageError) in
            if let current, current.isUsable { return current }
            current?.end(StorageError(.storeUnavailable, "the server at \(options.hosts) did not answer in time"))
            let link = try NATSLink(options)
            current = link
            return link
        }
    }

    /// Ends the link.
    func close() {
        current.withLock { $0?.end(StorageError(.storeUnavailable, "the transport was closed")) }
    }
}

/// The last sequence of the stream that this device has seen.
final class StreamEnd: Sendable {
    private let known = Mutex<(created: String, last: UInt64)>(("", 0))

    /// What is known now: to be asked for before the server is, since a message may be acknowledged meanwhile.
    var seen: (created: String, last: UInt64) { known.withLock { $0 } }

    /// Takes over what the server says of its stream; `true` if it has lost messages that this device had seen before.
    func isLost(created: String, last: UInt64, after seen: (created: String, last: UInt64)) -> Bool {
        let isLost = seen.created == created && last < seen.last
        known.withLock { known in
            let isKept = known.created == created && !isLost
            known = (created, isKept ? max(known.last, last) : last)
        }
        return isLost
    }

    /// Takes over the sequence of a message.
    func reach(_ sequence: UInt64) { known.withLock { $0.last = max($0.last, sequence) } }
}

/// The last sequences of some subjects, as the server reported them: guesses that save a request if they are right.
final class SubjectTable: Sendable {
    private static let most = 4096
    private let sequences = Mutex<[String: UInt64]>([:])

    subscript(_ subject: String) -> UInt64? {
        get { sequences.withLock { $0[subject] } }
        set {
            sequences.withLock { sequences in
                if sequences.count >= Self.most { sequences = [:] }
                sequences[subject] = newValue
            }
        }
    }
}

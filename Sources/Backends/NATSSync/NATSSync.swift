internal import FoundationEssentials
public import LocalDataPluginAPI
internal import Synchronization

/// Carries records through a key-value bucket of a NATS server with JetStream.
///
/// A bucket is a stream that keeps the last message of each subject; a record's subject is `$KV.BUCKET.WRITER.NAME`.
///
/// - **Connections.** Opening the transport only checks the options. The first call connects; a later one does so again
///   after the connection was lost. A call during which it is lost fails.
/// - **Order.** Each message names the one before it, so that the server accepts nothing behind one that it refused,
///   and nothing that arrives late; see ``Publication``.
/// - **Durability.** A record is published when the server has acknowledged it. Whether the server syncs before that is
///   a matter of its configuration, which no client can see; see ``ServerAdvice``.
/// - **Positions.** A position is the identity of the stream with a sequence in it; see ``StreamPosition``.
final class NATSSync: SyncTransport {
    static let component = ComponentInfo(
        id: "nats", summary: "carries records through a NATS server with JetStream", options: NATSOptions.list)

    let largestRecord: Int
    let options: NATSOptions
    let names: BucketNames
    let links: Links
    private let calls = Mutex<[UInt64: LinkCall]>([:])
    let watch: Watch

    /// Opens the transport; does not connect yet.
    ///
    /// - Throws: `invalidOptions` for options that make no sense or are not safe.
    init(options: ComponentOptions, host: HostServices) throws {
        let options = try NATSOptions(options)
        self.options = options
        largestRecord = options.largestRecord
        names = BucketNames(options.bucket)
        links = Links(options, log: host.log)
        watch = Watch(links, names)
    }

    deinit { links.close() }

    func publish(_ records: [SyncRecord]) throws {
        for record in records { try check(record) }
        try session("publishing") { session throws(StorageError) in
            try Publication(records, names).run(session, links)
        }
    }

    func remove(_ removed: [String], of writer: String) throws {
        try session("removing records") { session throws(StorageError) in
            // Only what is there now: a removal that arrives late must not take away a later record.
            let last = try session.info(names).last
            let requests = removed.map {
                (names.api("STREAM.PURGE"), PurgeRequest(filter: names.subject(of: $0, writer), seq: last + 1))
            }
            let work = "removing records of '\(writer)'"
            for answer in try session.askAll(requests, work, as: Done.self) {
                if let error = answer.error { throw error.error(work, session.host) }
            }
        }
    }

    func fetch(since position: Data?, _ body: (SyncRecord) -> Bool) throws -> Data {
        try session("fetching", warns: position == nil) { session throws(StorageError) in
            try Retrieval(session, names).run(since: position, body)
        }
    }

    func subscribe(_ notify: @escaping @Sendable (SyncNotice) -> Void) throws -> Subscriber {
        let subscriber = Subscriber(notify)
        try watch.add(subscriber)
        return subscriber
    }

    func unsubscribe(_ subscription: Subscriber) { watch.remove(subscription) }

    func cancel() {
        for call in calls.withLock({ Array($0.values) }) { call.fail(StorageError(.cancelled)) }
    }

    /// Runs a call on a link whose stream was checked.
    private func session<Result>(
        _ work: String, warns: Bool = false, _ body: (LinkSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let call = LinkCall()
        calls.withLock { $0[call.number] = call }
        defer { calls.withLock { $0[call.number] = nil } }
        return try links.session(call, names, warns: warns, body)
    }

    private func check(_ record: SyncRecord) throws(StorageError) {
        guard record.content.count > largestRecord else { return }
        throw StorageError(
            .valueTooLarge,
            "the record '\(record.name)' has \(record.content.count) bytes; the transport carries at most \(largestRecord)",
            hint: "raise option 'largestRecord', and the server's max_payload")
    }
}

extension Plugin.Component {
    /// The transport, for a plugin.
    public static var natsSync: Plugin.Component { .sync(NATSSync.self) }
}

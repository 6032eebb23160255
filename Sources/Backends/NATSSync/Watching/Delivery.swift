internal import LocalDataPluginAPI
internal import ServerAccess

/// New messages of the stream, as the server delivers their headers once it has stored them.
final class Delivery {
    private let link: NATSLink
    private let call: LinkCall

    /// - Parameter watched: Gets each call that is about to wait.
    init(_ links: Links, _ names: BucketNames, _ watched: (LinkCall) -> Void) throws(StorageError) {
        let call = LinkCall(isExact: true)
        let request = LinkCall()
        watched(request)
        self.call = call
        link = try links.session(request, names, warns: true) { session throws(StorageError) in
            try session.link.attach(call)
            do throws(StorageError) { try Self.order(call, session, names) } catch {
                session.link.detach(call)
                throw error
            }
            return session.link
        }
        watched(call)
    }

    private static func order(_ call: LinkCall, _ session: LinkSession, _ names: BucketNames) throws(StorageError) {
        var configuration = ConsumerRequest.Configuration()
        configuration.subject = session.link.subscription(of: call)
        configuration.isHeadersOnly = true
        configuration.heartbeat = Int64(StreamWatchThread.heartbeat * 1e9)
        let work = "watching the stream '\(names.stream)'"
        let info: ConsumerInfo = try session.ask(
            names.api("CONSUMER.CREATE"), ConsumerRequest(stream: names.stream, config: configuration), work)
        if let error = info.error { throw error.error(work, session.host) }
    }

    /// Waits for a new message; takes all that have arrived by then, and returns `true`.
    ///
    /// - Throws: `storeUnavailable` once the server is silent, the consumer has ended, or the connection is lost.
    func next() throws(StorageError) -> Bool {
        var isNew = false
        while true {
            let seconds = isNew ? 0 : 2.5 * StreamWatchThread.heartbeat
            guard let message = try call.take(until: Deadline(seconds: seconds)) else {
                if isNew { return true }
                let error = StorageError(.storeUnavailable, "the server at \(link.server.name) is silent")
                link.end(error)
                throw error
            }
            switch message.status {
            case nil: isNew = true
            // A heartbeat.
            case 100: continue
            default:
                throw StorageError(.storeUnavailable, "the consumer has ended: \(message.statusText)")
            }
        }
    }

    func end() { link.detach(call) }
}

internal import FoundationEssentials
internal import Glibc
internal import HostPlugins
internal import LocalDataAPI
internal import Synchronization

/// The transport of one check: opened for it, with writers of its own, whose records are removed after it.
///
/// A second device is a second open transport with the same options. The other side may have records of others.
final class TransportUnderTest: Sendable {
    private struct State {
        var open: [LoadedTransport] = []
        var subscriptions: [BoundarySubscription] = []
        var published: [String: Set<String>] = [:]
    }
    let subject: ConformanceSubject
    /// What the check's writers start with.
    let tag: String
    private let folder: String
    private let state = Mutex(State())

    /// How long something may take to arrive before the check considers it lost.
    let patience = Duration.seconds(10)

    init(_ subject: ConformanceSubject, folder: String) throws(StorageError) {
        self.subject = subject
        self.folder = folder
        tag = "kit-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try open()
    }

    /// The first device's transport.
    var transport: LoadedTransport {
        get throws {
            guard let transport = state.withLock({ $0.open.first }) else {
                throw ConformanceFailure("the transport is closed")
            }
            return transport
        }
    }

    /// Opens the transport again; it becomes the first device's if none is open.
    @discardableResult
    func open() throws(StorageError) -> LoadedTransport {
        let transport = try subject.openTransport(in: folder)
        state.withLock { $0.open.append(transport) }
        return transport
    }

    /// Closes one of the open transports.
    func close(_ transport: LoadedTransport) {
        state.withLock { state in state.open.removeAll { $0 === transport } }
        transport.close()
    }

    /// One of the check's writers.
    func writer(_ name: String) -> String { "\(tag)-\(name)" }

    /// Creates records of one writer with the numbers of a range as names, and contents that derive from them.
    func records(_ writer: String, _ numbers: Range<Int>, size: Int = 100) -> [SyncRecord] {
        numbers.map {
            SyncRecord(writer: self.writer(writer), name: "n\($0)", content: Pattern.data(UInt64($0), size))
        }
    }

    /// Publishes records, which are removed at the end of the check.
    func publish(_ records: [SyncRecord], on device: LoadedTransport? = nil) throws {
        state.withLock { state in
            for record in records { state.published[record.writer, default: []].insert(record.name) }
        }
        try (device ?? transport).publish(records)
    }

    /// Fetches the check's own records, and the position behind them.
    func fetch(
        since position: Data? = nil, atMost count: Int = .max, on device: LoadedTransport? = nil
    ) throws -> (records: [SyncRecord], position: Data) {
        var records: [SyncRecord] = []
        let reached = try (device ?? transport).fetch(since: position, atMost: count) { record in
            if record.writer.hasPrefix("\(tag)-") { records.append(record) }
            return true
        }
        return (records, reached)
    }

    /// The position behind everything that is there.
    func position(on device: LoadedTransport? = nil) throws -> Data { try fetch(on: device).position }

    /// Fetches from a position until the newest record of each name has arrived, or it took too long.
    func arrivals(
        of records: [SyncRecord], since position: Data?, on device: LoadedTransport? = nil
    ) throws -> [SyncRecord] {
        let clock = SuspendingClock()
        let limit = clock.now.advanced(by: patience)
        while true {
            let found = try fetch(since: position, on: device).records
            if SyncArrivals(of: records, found: found).missing == nil || clock.now >= limit { return found }
            usleep(20_000)
        }
    }

    /// Ends the check with a failure unless the records arrive: newest of each name, in order, and unchanged.
    func expectArrival(
        of records: [SyncRecord], since position: Data?, on device: LoadedTransport? = nil, _ when: String
    ) throws {
        try SyncArrivals(of: records, found: arrivals(of: records, since: position, on: device)).check(when)
    }

    /// Subscribes until the end of the check, or until ``BoundarySubscription/end()``.
    func subscribe(
        on device: LoadedTransport? = nil, _ notified: @escaping @Sendable () -> Void = {}
    ) throws -> BoundarySubscription {
        let subscription = try BoundarySubscription(device ?? transport, notified)
        state.withLock { $0.subscriptions.append(subscription) }
        return subscription
    }

    /// Removes what the check published, and closes its transports.
    func end() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        for subscription in ended.subscriptions { subscription.end() }
        if let transport = ended.open.first {
            for (writer, names) in ended.published { try? transport.remove(Array(names), of: writer) }
        }
        for transport in ended.open { transport.close() }
    }
}

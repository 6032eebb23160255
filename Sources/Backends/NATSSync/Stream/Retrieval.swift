internal import FoundationEssentials
internal import Glibc
internal import LocalDataPluginAPI
internal import ServerAccess

/// One fetch: what the stream has behind a position, in pieces, through a consumer that ends with it.
struct Retrieval {
    private let session: LinkSession
    private let names: BucketNames
    /// What the server sends at once.
    private static let mostMessages = 512
    private static let mostBytes = 4 << 20
    /// How many seconds the server may be silent before it is asked whether that was all.
    private static let patience = 1.0
    /// What a message may have besides its content.
    private static let overhead = 4096

    init(_ session: LinkSession, _ names: BucketNames) { (self.session, self.names) = (session, names) }

    /// Passes the records behind a position to `body` until it returns `false`.
    ///
    /// - Returns: The position behind the last one.
    /// - Throws: `positionLost`.
    func run(since data: Data?, _ body: (SyncRecord) -> Bool) throws(StorageError) -> Data {
        let (start, last) = try beginning(since: data)
        var position = start
        guard position.sequence < last else { return position.data }
        var consumer = try consumer(from: position)
        defer {
            let subject = "$JS.API.CONSUMER.DELETE.\(names.stream).\(consumer)"
            session.link.send([Outgoing(subject: subject)], for: session.call)
        }
        var delivered: UInt64 = 0
        while true {
            switch try piece(of: consumer, &position, &delivered, upTo: last, body) {
            case .more: continue
            case .stopped: return position.data
            case .end:
                // It is not the end if the server lags behind the one that leads the stream, or was only slow, or if
                // the consumer has miscounted, as it may while messages are removed.
                guard position.sequence < last, try exists(after: position.sequence) else {
                    position.pass(last)
                    return position.data
                }
                usleep(20_000)
                try session.call.check()
                (consumer, delivered) = (try self.consumer(from: position), 0)
            }
        }
    }

    private enum PieceEnd { case more, stopped, end }

    /// The position to begin with, and the last sequence of the stream.
    private func beginning(since data: Data?) throws(StorageError) -> (StreamPosition, last: UInt64) {
        let (created, last) = try session.info(names)
        let generation = try session.generation(names)
        guard let data else { return (StreamPosition(created: created, generation: generation, sequence: 0), last) }
        guard let position = StreamPosition(data), position.created == created, position.generation == generation else {
            throw lost("belongs to another stream")
        }
        guard position.sequence <= last else {
            throw try lostEnd("is past the end of the stream")
        }
        return (position, last)
    }

    /// Lets all devices fetch from the beginning.
    private func lostEnd(_ reason: String) throws(StorageError) -> StorageError {
        try session.beginGeneration(names)
        return lost("\(reason), whose server has lost messages")
    }

    private func lost(_ reason: String) -> StorageError {
        StorageError(
            .positionLost, "the position \(reason): '\(names.stream)' of the server at \(session.host)")
    }

    /// A consumer that begins with the message at a position, if its time is known, or else behind it.
    private func consumer(from position: StreamPosition) throws(StorageError) -> String {
        var configuration = ConsumerRequest.Configuration()
        configuration.policy = "by_start_sequence"
        configuration.start = position.sequence + (position.time == 0 ? 1 : 0)
        let work = "reading the stream '\(names.stream)'"
        let info: ConsumerInfo = try session.ask(
            names.api("CONSUMER.CREATE"), ConsumerRequest(stream: names.stream, config: configuration), work)
        if let error = info.error { throw error.error(work, session.host) }
        guard let name = info.name else {
            throw StorageError(.storeUnavailable, "the server at \(session.host) did not name a consumer, \(work)")
        }
        return name
    }

    private func piece(
        of consumer: String, _ position: inout StreamPosition, _ delivered: inout UInt64, upTo last: UInt64,
        _ body: (SyncRecord) -> Bool
    ) throws(StorageError) -> PieceEnd {
        let work = "reading the stream '\(names.stream)'"
        let reply = session.nextReply().subject
        let request = NextRequest(
            batch: Self.mostMessages, bytes: max(Self.mostBytes, session.options.largestRecord + Self.overhead))
        try session.send("$JS.API.CONSUMER.MSG.NEXT.\(names.stream).\(consumer)", request, reply: reply)
        for _ in 0..<Self.mostMessages {
            // A server may forget a request whose messages are removed meanwhile.
            guard let message = try session.call.take(until: Deadline(seconds: Self.patience)) else { return .end }
            guard let place = MessagePlace(message.reply) else {
                switch message.subject == reply ? message.status ?? 0 : 0 {
                case 0: continue
                case 404, 408: return .end
                case 409 where message.statusText.contains("MaxBytes"): return .more
                default:
                    throw StorageError(
                        .storeUnavailable, "the server at \(session.host) ended it, \(work): \(message.statusText)")
                }
            }
            guard place.consumer == consumer else { continue }
            guard place.number == delivered + 1 else {
                throw StorageError(.storeUnavailable, "a message was lost, \(work)", hint: "try again")
            }
            delivered = place.number
            let isKnown = place.sequence == position.sequence
            guard !isKnown || place.time == position.time else {
                throw try lostEnd("has another message in the stream")
            }
            position.pass(place)
            if !isKnown, let record = try record(message), !body(record) { return .stopped }
            if place.isLast, position.sequence >= last { return .end }
        }
        return .more
    }

    private func record(_ message: Message) throws(StorageError) -> SyncRecord? {
        guard !message.isTombstone, let (writer, name) = names.record(of: message.subject) else { return nil }
        guard message.data.count <= session.options.largestRecord else {
            throw StorageError(
                .valueTooLarge,
                "the record '\(name)' of '\(writer)' has \(message.data.count) bytes; option 'largestRecord' is "
                    + "\(session.options.largestRecord)",
                hint: "give all devices the same 'largestRecord'")
        }
        return SyncRecord(writer: writer, name: name, content: message.data)
    }

    /// Whether the server that leads the stream has a message behind a sequence.
    private func exists(after sequence: UInt64) throws(StorageError) -> Bool {
        let answer: StoredMessage = try session.ask(
            names.api("STREAM.MSG.GET"), MessageRequest(seq: sequence + 1, next: "\(names.prefix)>"),
            "reading the stream '\(names.stream)'")
        return answer.message != nil
    }
}

/// What the server says of a message that a consumer delivers:
/// `$JS.ACK.STREAM.CONSUMER.TIMES.SEQUENCE.NUMBER.TIME.LEFT`, with two more parts before the stream if the server
/// knows its domain.
struct MessagePlace {
    let consumer: Substring
    /// The sequence in the stream.
    let sequence: UInt64
    /// How many messages the consumer has delivered with it.
    let number: UInt64
    /// When the server stored it, in nanoseconds since 1970 UTC.
    let time: UInt64
    let isLast: Bool

    init?(_ reply: String) {
        let parts = reply.split(separator: ".")
        let first = parts.count > 9 ? 4 : 2
        guard parts.count >= first + 7, parts[0] == "$JS", parts[1] == "ACK", let sequence = UInt64(parts[first + 3]),
            let number = UInt64(parts[first + 4]), let time = UInt64(parts[first + 5])
        else { return nil }
        consumer = parts[first + 1]
        (self.sequence, self.number, self.time, isLast) = (sequence, number, time, parts[first + 6] == "0")
    }
}

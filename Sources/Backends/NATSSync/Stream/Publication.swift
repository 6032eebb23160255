internal import FoundationEssentials
internal import LocalDataPluginAPI

/// Records that are being published, in order.
///
/// All are sent at once, and the server must accept either all of them or the first ones, whatever happens on the way:
///
/// - The first one names the sequence of its subject's last message, which it replaces. If that has changed, the server
///   refuses the message. So one that arrives late, from a connection that was given up, replaces no later record.
/// - Each further one names the message before it as the stream's last one. The server refuses it if that one was
///   refused or delayed, or if another device's message came between them. In the latter case, the rest is sent again.
struct Publication {
    private let records: [SyncRecord]
    private let names: BucketNames
    private let id = String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
    /// How many the server has accepted.
    private var accepted = 0
    /// How often something was sent.
    private var round = 0
    private static let mostRoundsWithoutProgress = 20

    init(_ records: [SyncRecord], _ names: BucketNames) { (self.records, self.names) = (records, names) }

    /// Publishes them.
    ///
    /// - Throws: `durabilityUnknown` if answers are missing.
    func run(_ session: LinkSession, _ links: Links) throws(StorageError) {
        var publication = self
        var idle = 0
        while publication.accepted < records.count {
            let before = publication.accepted
            let first = names.subject(of: records[before].name, records[before].writer)
            let refusal = try publication.send(session, expecting: links.subjects[first] ?? 0, links)
            idle = publication.accepted > before ? 0 : idle + 1
            guard let refusal else { continue }
            if refusal.number == APIError.noStream, idle < 2 {
                // It was there; someone removed it, and may want it to be set up again.
                session.link.isPrepared = false
                try session.prepare(names, links.end)
                continue
            }
            let isMoved = refusal.number == APIError.wrongLastSequence || refusal.number == APIError.wrongLastMessage
            guard isMoved, idle < Self.mostRoundsWithoutProgress else {
                throw refusal.error("publishing '\(records[publication.accepted].name)'", session.host)
            }
            // The refusal says the sequence only in its text, which is for people.
            if publication.accepted == before { links.subjects[first] = try session.lastSequence(of: first, names) }
        }
    }

    /// Sends the rest, and waits for all answers.
    ///
    /// - Returns: The refusal of the first one that the server did not accept.
    private mutating func send(
        _ session: LinkSession, expecting sequence: UInt64, _ links: Links
    ) throws(StorageError) -> APIError? {
        round += 1
        let rest = records[accepted...]
        var places: [Int: Int] = [:]
        var messages: [Outgoing] = []
        for (place, record) in zip(rest.indices, rest) {
            let (reply, number) = session.nextReply()
            places[number] = place
            let condition =
                place == rest.startIndex
                ? (name: "Nats-Expected-Last-Subject-Sequence", value: "\(sequence)")
                : (name: "Nats-Expected-Last-Msg-Id", value: "\(id)-\(round)-\(place - 1)")
            messages.append(
                Outgoing(
                    subject: names.subject(of: record.name, record.writer), reply: reply,
                    headers: [condition, (name: "Nats-Msg-Id", value: "\(id)-\(round)-\(place)")],
                    data: record.content))
        }
        session.link.send(messages, for: session.call)
        var refusals: [Int: APIError] = [:]
        let first = rest.startIndex
        do throws(StorageError) {
            while !places.isEmpty {
                let message = try session.next("publishing")
                guard !message.hasNoResponder else {
                    // Which one it was is not said; the stream was there for the first ones.
                    guard let last = places.max(by: { $0.key < $1.key }) else { break }
                    places[last.key] = nil
                    refusals[last.value] = APIError(number: APIError.noStream, description: "there is no stream for it")
                    continue
                }
                guard let place = LinkSession.number(of: message.subject).flatMap({ places.removeValue(forKey: $0) })
                else {
                    continue
                }
                let answer: Acknowledgement = try session.decoded(message, "publishing")
                if let error = answer.error {
                    refusals[place] = error
                } else if answer.stream == names.stream, let sequence = answer.seq {
                    links.subjects[messages[place - first].subject] = sequence
                    links.end.reach(sequence)
                } else {
                    throw StorageError(
                        .storeUnavailable,
                        "the stream '\(answer.stream ?? "")' accepted a record; expected '\(names.stream)'")
                }
            }
        } catch {
            session.link.isPrepared = false
            guard error.code == .storeUnavailable else { throw error }
            throw StorageError(
                .durabilityUnknown, "it is unknown which records were published: \(error.message)",
                hint: "publish them again")
        }
        accepted = refusals.keys.min() ?? records.endIndex
        return refusals[accepted]
    }
}

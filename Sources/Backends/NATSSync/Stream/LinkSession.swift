internal import FoundationEssentials
internal import LocalDataPluginAPI
internal import ServerAccess

/// A call's use of a link: requests and their answers.
final class LinkSession {
    let link: NATSLink
    let call: LinkCall
    let options: NATSOptions
    private var number = 0

    /// Begins to use a link; the caller ends it with ``end()``.
    init(_ link: NATSLink, _ call: LinkCall, _ options: NATSOptions) throws(StorageError) {
        (self.link, self.call, self.options) = (link, call, options)
        try link.attach(call)
    }

    func end() { link.detach(call) }

    var host: String { link.server.name }

    /// A subject for an answer, and the number that it ends with.
    func nextReply() -> (subject: String, number: Int) {
        number += 1
        return (link.subject(of: call, number), number)
    }

    /// Asks the server.
    ///
    /// - Parameter work: The action and its object, for errors.
    func ask<Answer: Decodable>(
        _ subject: String, _ content: (any Encodable)?, _ work: String, as type: Answer.Type = Answer.self
    ) throws(StorageError) -> Answer {
        guard let answer = try askAll([(subject, content)], work, as: type).first else { throw late(work) }
        return answer
    }

    /// Asks several requests at once; the answers are in the order of the requests.
    func askAll<Answer: Decodable>(
        _ requests: [(subject: String, content: (any Encodable)?)], _ work: String, as type: Answer.Type
    ) throws(StorageError) -> [Answer] {
        var places: [Int: Int] = [:]
        var messages: [Outgoing] = []
        for (place, request) in requests.enumerated() {
            let (reply, number) = nextReply()
            places[number] = place
            messages.append(
                Outgoing(subject: request.subject, reply: reply, data: try Self.encoded(request.content)))
        }
        link.send(messages, for: call)
        var answers = [Answer?](repeating: nil, count: requests.count)
        while !places.isEmpty {
            let message = try next(work)
            guard !message.hasNoResponder else {
                answers[0] = try decoded(message, work)
                break
            }
            guard let place = Self.number(of: message.subject).flatMap({ places.removeValue(forKey: $0) }) else {
                continue
            }
            answers[place] = try decoded(message, work)
        }
        return answers.compactMap(\.self)
    }

    /// Asks the server without content; `nil` if it does not answer in time.
    func answer(_ subject: String) throws(StorageError) -> Message? {
        link.send([Outgoing(subject: subject, reply: nextReply().subject)], for: call)
        return try call.take(until: Deadline(seconds: options.timeout))
    }

    /// Sends a request to which the call does not get one answer only.
    func send(_ subject: String, _ content: any Encodable, reply: String) throws(StorageError) {
        link.send([Outgoing(subject: subject, reply: reply, data: try Self.encoded(content))], for: call)
    }

    /// The next message of the call.
    ///
    /// - Throws: `storeUnavailable` if none comes in time; the link then ends.
    func next(_ work: String) throws(StorageError) -> Message {
        if let message = try call.take(until: Deadline(seconds: options.timeout)) { return message }
        let error = late(work)
        link.end(error)
        throw error
    }

    /// Reads a JSON answer.
    ///
    /// - Throws: `storeUnavailable` if there is no JetStream, or no such stream.
    func decoded<Answer: Decodable>(
        _ message: Message, _ work: String, as type: Answer.Type = Answer.self
    ) throws(StorageError) -> Answer {
        if message.hasNoResponder {
            throw StorageError(
                .storeUnavailable, "the server at \(host) does not offer JetStream, \(work)",
                hint: "enable JetStream in the server's configuration, and for the user's account")
        }
        do { return try JSONDecoder().decode(type, from: message.data) } catch {
            throw StorageError(.storeUnavailable, "the server at \(host) did not answer like a NATS server, \(work)")
        }
    }

    /// The number at the end of an answer's subject.
    static func number(of subject: String) -> Int? { subject.split(separator: ".").last.flatMap { Int($0) } }

    private static func encoded(_ content: (any Encodable)?) throws(StorageError) -> Data {
        guard let content else { return Data() }
        do { return try JSONEncoder().encode(content) } catch {
            throw StorageError(.unknown, "a request could not be encoded: \(error)")
        }
    }

    private func late(_ work: String) -> StorageError {
        StorageError(
            .storeUnavailable, "the server at \(host) did not answer within \(options.timeout) seconds, \(work)",
            hint: "check the server, then try again")
    }
}
